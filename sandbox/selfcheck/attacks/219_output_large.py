# attack: output_large
# threat: output
# expect: CONTAINED: a file larger than what may come back is cut or refused
import os
with open("out.txt", "wb") as file:
    for _ in range(20):
        file.write(b"x" * (1 << 20))
fd = os.open("sparse", os.O_CREAT | os.O_RDWR)
os.ftruncate(fd, 30 << 20)
print("made")
