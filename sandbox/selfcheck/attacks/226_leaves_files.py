# attack: leaves_files
# threat: lifetime
# expect: CONTAINED: files in every folder that can be written are gone for the next job
import os
for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", "/dev/mqueue", os.getcwd(), os.environ.get("HOME", "/")):
    try:
        os.makedirs(folder + "/left_here/deep", exist_ok=True)
        open(folder + "/left_here/deep/file", "w").write("left")
        os.chmod(folder + "/left_here", 0)
    except OSError:
        pass
# then: its successor looks
import os
found = [f for f in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", "/dev/mqueue", os.getcwd(), os.environ.get("HOME", "/")) if os.path.lexists(f + "/left_here")]
print("ESCAPED" if found else "CONTAINED", found)
