# attack: neighbour_secrets
# threat: fs
# expect: CONTAINED: files of jobs before and beside this one are nowhere
# oracle: the harness runs such jobs, with a secret in every folder that can be written
import os
needle = b"CANARY_JOB" + b"_SECRET=42"
bad = []
tops = ["/tmp", "/dev", "/var/tmp", "/run", "/var/run", "/mnt", "/srv", "/old", "/oldroot", "/put_old", os.getcwd(), os.path.dirname(os.getcwd())]
tops += ["/proc/%s/%s" % (n, w) for n in os.listdir("/proc") if n.isdigit() for w in ("root/tmp", "cwd")]
for top in tops:
    for folder, _, names in os.walk(top):
        for name in names[:500]:
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path) and needle in open(path, "rb").read(1 << 16):
                    bad.append(path)
            except OSError:
                pass
print("ESCAPED" if bad else "CONTAINED", bad[:5])
