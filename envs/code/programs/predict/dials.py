"""Attributes of a class and of its instances with the same name."""

STEP, KINDS, ADD, SCALE, BOUND = 5, 4, 6, 3, 37


# The program:
class Dial:
    step = STEP

    def __getattr__(self, name):
        self.missing = len(name) + self.step
        return self.missing

    def bump(self, x):
        kind = x % KINDS
        if kind == 0:
            self.step += x % ADD
        elif kind == 1:
            Dial.step = (Dial.step * SCALE + x) % BOUND
        elif kind == 2:
            vars(self).pop("step", None)
        else:
            vars(self).pop("missing", 0)
        return (self.step + self.missing * kind) % BOUND
