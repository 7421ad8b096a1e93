# attack: server_settings_in_frames
# threat: info
# expect: CONTAINED: frames, closures and modules above the program hold no setting of the warm server: no path of the host's packages, no home folder, no list of binds
import gc, sys
seen, found = set(), set()
def walk(o, depth=0):
    if depth > 6 or id(o) in seen: return
    seen.add(id(o))
    if isinstance(o, str):
        if o.startswith(("/root", "/home", "/srv")) or ("/.cache/" in o) or ("site-packages" in o and not o.startswith(("/opt", "/usr"))): found.add(o)
    elif isinstance(o, dict):
        for k, v in list(o.items()): walk(k, depth + 1); walk(v, depth + 1)
    elif isinstance(o, (list, tuple, set, frozenset)):
        for x in list(o): walk(x, depth + 1)
f = sys._getframe()
names = []
while f:
    names.append(f.f_code.co_name)
    if f.f_code.co_name != "<module>" or f.f_code.co_filename != __file__: walk(f.f_locals); walk({k: v for k, v in f.f_globals.items() if not isinstance(v, type(sys))})
    f = f.f_back
print("LEAK" if found else "CONTAINED", names, sorted(found)[:4])
