# attack: full_folder
# threat: status
# expect: CONTAINED: a full private folder, in bytes and in names, is not told as a fault of the machine
# status: nonzero_exit, disk_limit
import os
try:
    with open("big", "wb", buffering=0) as file:
        while True:
            file.write(b"x" * (1 << 20))
except OSError:
    pass
for n in range(3000):
    try:
        os.mkdir("d%d" % n)
    except OSError:
        break
os._exit(5)
