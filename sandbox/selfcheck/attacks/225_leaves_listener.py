# attack: leaves_listener
# threat: lifetime
# expect: CONTAINED: a listener in a daemon ends with the job
import os, socket, time
s = socket.socket(socket.AF_UNIX)
s.bind("\0sbx_left")
s.listen()
t = socket.socket()
try:
    t.bind(("127.0.0.1", 48126))
    t.listen()
except OSError:
    pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os._exit(0)
# then: its successor connects
import socket
bad = []
for family, address in ((socket.AF_UNIX, "\0sbx_left"), (socket.AF_INET, ("127.0.0.1", 48126))):
    try:
        socket.socket(family).connect(address)
        bad.append(address)
    except OSError:
        pass
print("ESCAPED" if bad else "CONTAINED", bad)
