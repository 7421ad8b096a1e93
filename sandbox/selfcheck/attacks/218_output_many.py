# attack: output_many
# threat: output
# expect: CONTAINED: as many files as fit come back bounded, or are refused
import os
try:
    for n in range(1900):
        with open("f%04d" % n, "wb") as file:
            file.write(b"x" * 15000)
except OSError as e:
    print("CONTAINED errno", e.errno, "at", n)
