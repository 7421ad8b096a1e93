# attack: forged_end
# threat: stdio
# expect: CONTAINED: output that looks like the end of a stream, a frame or a shell marker changes nothing
# status: nonzero_exit
# exit: 8
import os
for text in (b"\x00\x00\x00\x00", b"\x04", b"\x1a", b"\r\n0\r\n\r\n", b"__EXIT__ 0\n", b"EOF\n", b"\xff" * 16, b"CONTENT-LENGTH: 0\r\n\r\n", b"\x1b[0n\x1b]0;x\x07", b"{\"exit_code\": 0}\n" * 10):
    os.write(1, text)
    os.write(2, text)
os._exit(8)
