# attack: locks_on_shared_files
# threat: info
# expect: LEAK tolerated: locks on files that jobs share with the host work, so two jobs can signal each other and a program of the host that locks the same file can be kept waiting
import fcntl
held = []
for path in ("/usr/bin/env", "/usr/bin/python3", "/etc/ld.so.cache", "/usr/lib/os-release"):
    try:
        fd = open(path, "rb")
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held.append(path)
    except OSError:
        pass
print("LEAK" if held else "CONTAINED", held)
