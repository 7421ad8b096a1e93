# attack: kernel_settings
# threat: privilege
# expect: CONTAINED: no kernel setting can be opened for writing (nothing is written), and no user can be mapped
import os
bad = []
paths = ["/proc/sysrq-trigger", "/proc/acpi", "/proc/mtrr",
    "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper", "/sys/fs/selinux/enforce", "/proc/timer_stats", "/proc/scsi/scsi", "/sys/power/state"]
for top in ("/proc/sys", "/proc/irq", "/sys/kernel", "/sys/fs", "/sys/module", "/proc/fs"):
    for folder, _, names in os.walk(top):
        paths += [os.path.join(folder, name) for name in names]
        if len(paths) > 6000:
            break
for path in paths:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        bad.append(path)
    except OSError:
        pass
for path, text in (("/proc/self/uid_map", "0 0 1"), ("/proc/self/gid_map", "0 0 1")):
    try:
        with open(path, "w") as file:
            file.write(text)
        bad.append(path)
    except OSError:
        pass
print("ESCAPED" if bad else "CONTAINED", len(paths), "tried", bad[:6])
