# attack: stdout_flood
# threat: output
# expect: CONTAINED: output is cut at its limit and the job ended
# status: output_limit
import os
block = b"o" * (1 << 16)
for _ in range(1 << 14):
    os.write(1, block)
print("ESCAPED wrote 1 GiB to standard output")
