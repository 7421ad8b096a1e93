# attack: neighbour_socket
# threat: net
# expect: CONTAINED: a job that runs at the same time cannot be reached, by abstract name or loopback
# oracle: the harness runs a job beside this one that listens on both
import socket
bad = []
for family, address in ((socket.AF_UNIX, "\0sbx_neighbour"), (socket.AF_INET, ("127.0.0.1", 48125))):
    try:
        s = socket.socket(family)
        s.settimeout(0.5)
        s.connect(address)
        bad.append(address)
    except OSError:
        pass
print("ESCAPED" if bad else "CONTAINED", bad)
