# attack: mapped_ipv6
# threat: net
# expect: CONTAINED: the host's loopback is out of reach over IPv6 too, mapped or not
# oracle: host listener on 127.0.0.1:48123
import socket
bad = []
for family, address in ((socket.AF_INET6, ("::ffff:127.0.0.1", 48123)), (socket.AF_INET6, ("::1", 48123)), (socket.AF_INET, ("127.0.0.2", 48123)), (socket.AF_INET, ("0.0.0.0", 48123)), (socket.AF_INET, ("localhost", 48123))):
    try:
        s = socket.socket(family)
        s.settimeout(0.5)
        s.connect(address)
        bad.append(address)
    except OSError:
        pass
print("ESCAPED" if bad else "CONTAINED", bad)
