# attack: working_folder_locked
# threat: status
# expect: CONTAINED: a working folder that nobody may enter is not told as a fault of the machine
# status: nonzero_exit
# exit: 5
import os
os.makedirs("a/b")
os.chmod("a", 0)
for path in (".", "..", "/tmp", os.environ.get("HOME", ".")):
    try:
        os.chmod(path, 0)
    except OSError:
        pass
os._exit(5)
