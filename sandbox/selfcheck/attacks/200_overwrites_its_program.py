# attack: overwrites_its_program
# threat: privilege
# expect: CONTAINED: the program that the supervisor runs cannot be opened for writing through /proc
import glob, os
bad = []
for path in ("/proc/self/exe", "/proc/1/exe", "/proc/%d/exe" % os.getppid(), *glob.glob("/proc/self/map_files/*")[:50]):
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
        try:
            fd = os.open(path, flags)
            bad.append((path, os.readlink(path)))
            os.close(fd)
        except OSError:
            pass
print("ESCAPED" if bad else "CONTAINED", bad)
