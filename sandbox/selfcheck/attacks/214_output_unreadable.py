# attack: output_unreadable
# threat: fs
# expect: CONTAINED: files and folders without permissions hinder neither collecting nor removal
# status: ok
import os
open("out.txt", "w").write("x")
os.makedirs("a/b/c")
open("a/b/c/file", "w").write("x")
os.chmod("out.txt", 0)
os.chmod("a/b/c", 0)
os.chmod("a/b", 0)
os.chmod("a", 0)
os.chmod(".", 0)
