# attack: output_moved_away
# threat: fs
# expect: CONTAINED: a working folder that is renamed, emptied or covered does not mislead the collector
import os
open("out.txt", "w").write("x")
here = os.getcwd()
for change in (lambda: os.rename(here, here + "_moved"), lambda: os.symlink("/etc", here), lambda: os.rmdir(here), lambda: os.rename("out.txt", "../out.txt")):
    try:
        change()
        print("done", flush=True)
    except OSError as e:
        print("refused", e.errno, flush=True)
