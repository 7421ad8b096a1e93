# attack: orphan_flood
# threat: status
# expect: CONTAINED: thousands of orphans that exit with 0 do not become the job's own exit code
# status: nonzero_exit
# exit: 6
import os, time
end = time.monotonic() + 1.0
while time.monotonic() < end:
    try:
        if os.fork() == 0:
            try:
                if os.fork() == 0:
                    os._exit(0)
            finally:
                os._exit(0)
        os.wait()
    except OSError:
        pass
os._exit(6)
