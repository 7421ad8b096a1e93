# attack: output_is_folder
# threat: fs
# expect: CONTAINED: a folder under the name of an output is refused
# status: ok
import os
os.makedirs("out.txt/out.txt/out.txt")
open("out.txt/out.txt/out.txt/x", "w").write("x")
