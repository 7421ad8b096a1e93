# attack: plants_start_files
# threat: lifetime
# expect: CONTAINED: start files in the home or working folder of one job mean nothing to the next
import os, site, sys
text = "import os\nos.write(1, b'ESCAPED planted code ran\\n')\n"
home = os.environ.get("HOME", "/tmp")
version = "python%d.%d" % sys.version_info[:2]
for folder in (home, "/tmp", os.getcwd(), home + "/.local/lib/%s/site-packages" % version, site.getusersitepackages(), "/var/tmp"):
    for name in ("sitecustomize.py", "usercustomize.py", "json.py", "random.py", "os.py", "numpy.py", "evil.pth", ".pythonrc.py", "python.py", "main.py"):
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, name), "w") as file:
                file.write("import os; os.write(1, b'ESCAPED pth\\n')\n" if name.endswith("pth") else text)
        except OSError:
            pass
for name in (".bashrc", ".profile", ".bash_profile", ".gitconfig", ".npmrc", ".Rprofile", ".irbrc"):
    try:
        with open(os.path.join(home, name), "w") as file:
            file.write("echo ESCAPED\n")
    except OSError:
        pass
# then: its successor imports
import json, os, random, subprocess, sys
subprocess.run([sys.executable, "-c", "import json, random"])
print("CONTAINED", sorted(os.listdir(os.environ.get("HOME", "."))))
