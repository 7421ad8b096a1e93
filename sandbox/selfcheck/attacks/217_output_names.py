# attack: output_names
# threat: fs
# expect: CONTAINED: names with line breaks, escapes, wrong bytes and dots come back escaped, or are refused
# status: ok
import os
for name in (b"new\nline", b"\x1b[2Jescape", b"\xff\xfe\xc3", b"-rf", b"--", b"x" * 255, b"..." , b".. ", b"a\\..\\b", "\u202egnp.exe".encode(), b"%s%n", b"$(id)", b"`id`", b"\xed\xa0\x80", b" ", b"\x7f\x01", b"CON", b"*", b"[a]", b"?"):
    with open(b"./" + name, "w") as file:
        file.write("x")
    os.makedirs(b"./d" + name[:200], exist_ok=True)
    open(b"./d" + name[:200] + b"/" + name, "w").close()
print("made", len(os.listdir(b".")))
