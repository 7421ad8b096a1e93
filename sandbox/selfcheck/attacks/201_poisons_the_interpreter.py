# attack: poisons_the_interpreter
# threat: lifetime
# expect: CONTAINED: whatever a job breaks in its own interpreter is whole again for the next
import builtins, ctypes, json, os, random, sys
ctypes.memset(id(42) + 24, 41, 1)
builtins.print = lambda *a, **k: None
json.dumps = random.random = lambda *a, **k: "ESCAPED"
sys.modules["collections"] = None
sys.path[:] = ["/tmp"]
os.environ["PYTHONPATH"] = "/tmp"
os.register_at_fork(after_in_child=lambda: os.write(1, b"ESCAPED by fork\n"))
# then: its successor counts
import collections, random, sys
print("CONTAINED" if 40 + 2 == 21 * 2 and random.random() < 1 and "/tmp" not in sys.path[1:] else "ESCAPED")
