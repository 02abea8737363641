import glob, fnmatch
from pathlib import Path
for name in ("one.txt", "two.txt", ".hidden", "sub/three.txt"):
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).touch()
print(sorted(glob.glob("*.txt")), sorted(glob.glob("**/*.txt", recursive=True)))
print(sorted(map(str, Path(".").rglob("*.txt"))), fnmatch.filter(["a.py", "b.txt"], "*.py"))
