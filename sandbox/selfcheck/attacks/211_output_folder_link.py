# attack: output_folder_link
# threat: fs
# expect: CONTAINED: a folder that is a link is not walked
# oracle: what is fetched holds no line of the host's files
import os
os.makedirs("sub")
for name, target in (("sub/etc", "/etc"), ("sub/up", ".."), ("sub/top", "/"), ("sub/proc", "/proc/1"), ("out.txt", "/etc")):
    os.symlink(target, name)
print("made links", flush=True)
