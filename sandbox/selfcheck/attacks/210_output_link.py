# attack: output_link
# threat: fs
# expect: CONTAINED: a link as an output file brings no file of the host back
# oracle: what is fetched holds no line of the host's files
import os
os.symlink("/etc/passwd", "out.txt")
for name, target in (("shadow", "/etc/shadow"), ("environ", "/proc/self/environ"), ("init", "/proc/1/environ"), ("parent", "../../../../etc/passwd"), ("machine", "/etc/machine-id"), ("self", "self"), ("a", "b"), ("b", "a"), ("zero", "/dev/zero"), ("root", "/")):
    os.symlink(target, name)
print("made links", flush=True)
