# attack: closes_streams_and_sleeps
# threat: wall
# expect: CONTAINED: end of output is not the end of the job: killed at the wall limit
# status: time_limit
# wall: 2
import os, time
os.closerange(0, 1024)
time.sleep(600)
