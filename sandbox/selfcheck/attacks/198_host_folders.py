# attack: host_folders
# threat: fs
# expect: CONTAINED: folders of users, services and other programs of the host are not there, or empty
import os, sys
needed = [os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), os.getcwd())]
bad = []
for top in ("/root", "/home", "/work", "/srv", "/opt", "/mnt", "/media", "/boot", "/var/log", "/var/lib/docker", "/var/lib/dpkg", "/var/lib/apt", "/var/lib/systemd", "/var/lib/postgresql", "/var/lib/dbus", "/var/spool", "/var/mail", "/var/backups", "/var/cache", "/etc/ssh", "/etc/ssl/private", "/etc/sudoers.d", "/etc/cron.d", "/run/secrets", "/run/user", "/lost+found", "/old", "/.oldroot", "/host", "/workspace"):
    for folder, folders, names in os.walk(top):
        if any(p == folder or folder.startswith(p + "/") for p in needed):
            folders[:] = []
            continue
        bad += [os.path.join(folder, n) for n in names if not n.startswith("libpython")]
        folders[:] = folders[:20]
        if len(bad) > 20:
            break
print("ESCAPED" if bad else "CONTAINED", bad[:5])
