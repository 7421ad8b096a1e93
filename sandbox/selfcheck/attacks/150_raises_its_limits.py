# attack: raises_its_limits
# threat: limits
# expect: CONTAINED: no resource limit can be raised
import resource
bad = []
for name in dir(resource):
    if not name.startswith("RLIMIT_"):
        continue
    number = getattr(resource, name)
    soft, hard = resource.getrlimit(number)
    if hard == resource.RLIM_INFINITY:
        continue
    for wanted in (resource.RLIM_INFINITY, hard + 1):
        try:
            resource.setrlimit(number, (soft, wanted))
            bad.append((name, hard, wanted))
        except (OSError, ValueError):
            pass
print("ESCAPED" if bad else "CONTAINED", bad)
