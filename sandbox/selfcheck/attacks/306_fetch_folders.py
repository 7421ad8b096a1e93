# attack: fetch_folders
# threat: time
# expect: CONTAINED: ten thousand deep and wide folders do not hold the collector
# status: ok
import os
n=0
os.chdir("/tmp")
name="d"*200
try:
    for i in range(1990):
        os.mkdir(name); os.chdir(name); n+=1
except OSError as e: print("INFO", e)
print("CONTAINED", n, flush=True); os._exit(0)
