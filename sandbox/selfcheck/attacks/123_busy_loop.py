# attack: busy_loop
# threat: cpu
# expect: CONTAINED: killed at the wall limit
# status: time_limit
# wall: 1.5
while True:
    pass
