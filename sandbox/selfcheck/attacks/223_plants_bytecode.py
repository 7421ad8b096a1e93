# attack: plants_bytecode
# threat: lifetime
# expect: CONTAINED: compiled modules of the library cannot be replaced
import glob, os, sys
bad = []
for pattern in (os.path.dirname(os.__file__) + "/__pycache__/*.pyc", os.path.dirname(os.__file__) + "/json/__pycache__/*.pyc"):
    for path in glob.glob(pattern)[:300]:
        for change in (lambda p: os.close(os.open(p, os.O_WRONLY)), os.unlink, lambda p: os.rename(p, p + ".old")):
            try:
                change(path)
                bad.append(path)
            except OSError:
                pass
print("ESCAPED" if bad else "CONTAINED", bad[:3])
