# attack: output_deep
# threat: fs
# expect: CONTAINED: folders deeper than a path can say are walked or refused without a crash
import os
n = 0
try:
    while n < 1500:
        os.mkdir("dddddddddd")
        os.chdir("dddddddddd")
        n += 1
    open("out.txt", "w").write("deep")
except OSError as e:
    print("CONTAINED at depth", n, e.errno)
