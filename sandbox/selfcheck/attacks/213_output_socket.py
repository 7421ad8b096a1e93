# attack: output_socket
# threat: fs
# expect: CONTAINED: a socket or FIFO among the outputs neither hangs nor comes back
# status: ok
import os, socket
try:
    s = socket.socket(socket.AF_UNIX)
    s.bind("out.txt")
    s.listen()
except OSError:
    os.mkfifo("out.txt")
os.mkfifo("fifo")
os.makedirs("sub")
os.mkfifo("sub/fifo")
print("made", flush=True)
