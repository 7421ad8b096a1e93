# attack: interfaces
# threat: net
# expect: CONTAINED: no interface but loopback, by any way of asking
import os, socket
bad = []
try:
    bad += [name for _, name in socket.if_nameindex() if name not in ("lo",)]
except OSError:
    pass
for folder in ("/sys/class/net", "/proc/sys/net/ipv4/conf", "/proc/sys/net/ipv6/conf"):
    try:
        bad += [n for n in os.listdir(folder) if n not in ("lo", "all", "default", "bonding_masters")]
    except OSError:
        pass
for path in ("/proc/net/if_inet6", "/proc/net/fib_trie", "/proc/net/arp"):
    try:
        text = open(path).read()
        bad += [path for word in ("eth", "ens", "enp", "docker", "veth", "LOCAL") if word in text and "127.0.0" not in text]
    except OSError:
        pass
# Tunnels that the kernel adds to every new network namespace lead nowhere.
bad = [n for n in bad if n not in ("tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0")]
print("ESCAPED" if bad else "CONTAINED", sorted(set(bad)))
