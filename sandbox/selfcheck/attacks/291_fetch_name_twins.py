# attack: fetch_name_twins
# threat: fs
# expect: CONTAINED: a name that is no UTF-8 and a name that spells its escape are two names to the caller
import os
os.chdir("/tmp")
open(b"out\xff.txt", "wb").write(b"not utf-8")
open(b"out\\xff.txt", "wb").write(b"spelled")
open("out\u202etxt.exe", "w").write("rtl")
open("e\u0301", "w").write("nfd"); open("\u00e9", "w").write("nfc")
open("\x1b]0;owned\x07", "w").write("title")
open("a\nb\rc", "w").write("lines")
open("-rf", "w").write("x"); open("~", "w").write("x"); open("CON", "w").write("x")
print("CONTAINED", sorted(map(ascii, os.listdir(b"."))))
