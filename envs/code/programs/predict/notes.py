"""Nested handlers of exceptions, one a subclass of the other, with blocks that run in the end."""

EVERY, LOW, BELOW, OFTEN, SCALE, BOUND = 7, 4, 9, 3, 5, 71


# The program:
class Low(Exception):
    pass


class VeryLow(Low):
    pass


def check(x, notes):
    try:
        try:
            if x % EVERY == 0:
                raise VeryLow(x % BELOW)
            if x % EVERY < LOW:
                raise Low(x % BELOW)
            notes.append(x % 4)
        except VeryLow as error:
            notes.append(error.args[0])
            raise Low(len(notes)) from error
        else:
            x += notes[0] * SCALE
        finally:
            x += len(notes)
            if len(notes) > OFTEN:
                notes[:] = [sum(notes) % BELOW, notes[-1]]
        return x % BOUND
    except Low as error:
        x += error.args[0] * SCALE
        if error.__cause__ is not None:
            x -= notes[-1]
        return x % BOUND
    finally:
        notes.append(x % BELOW)
