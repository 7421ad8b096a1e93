# attack: output_swapped
# threat: fs
# expect: CONTAINED: a process that swaps a file for a link while it is collected brings nothing of the host out
# oracle: what is fetched holds no line of the host's files
import os
os.symlink("/etc/passwd", "link")
os.symlink("/etc", "dirlink")
os.makedirs("dir")
open("dir/passwd", "w").write("plain")
open("plain", "w").write("plain")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            for a, b in (("link", "out.txt"), ("plain", "out.txt"), ("dirlink", "sub"), ("dir", "sub")):
                try:
                    os.rename(a, b)
                    os.rename(b, a)
                except OSError:
                    pass
    os._exit(0)
os.wait()
import time
time.sleep(0.1)
os._exit(0)
