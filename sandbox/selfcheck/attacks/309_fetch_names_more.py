# attack: fetch_names_more
# threat: fs
# expect: CONTAINED: names that spell the escapes of others come back as names of their own
# status: ok
import os
os.chdir("/tmp")
for n in (b"./x", b"a\\xff", b"a\xff", b"a\\\\xff", b"\xed\xa0\x80", b"A", b"a", b"\xc3\xa9", b"e\xcc\x81", b" ", b"\t", b"\\", b"nul\\x00", b"%00", b"..."):
    try: open(n,"wb").write(b"1")
    except OSError as e: print("INFO",n,e)
print("CONTAINED")
