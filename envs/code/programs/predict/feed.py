"""A generator that is sent numbers and keeps a log."""

START, EVERY, SCALE, BOUND, NOTE, MOST = 7, 5, 6, 83, 10, 5


# The program:
def feed(log):
    last = START
    while True:
        try:
            got = yield last
            if got % EVERY == 0:
                raise ValueError(got)
            last = (last * SCALE + got) % BOUND
        except ValueError as error:
            last = last // 2 + error.args[0] % NOTE
        finally:
            log.append(last % NOTE)
            if len(log) > MOST:
                del log[::2]
            last += log[0]
