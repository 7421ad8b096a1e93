# attack: late_flood
# threat: output
# expect: CONTAINED: verdict within 1000 ms after main exit although a grandchild goes on writing
# status: ok, output_limit
import os
if os.fork() == 0:
    os.setsid()
    while True:
        try:
            os.write(1, b"late\n" * 1000)
        except OSError:
            pass
os._exit(0)
