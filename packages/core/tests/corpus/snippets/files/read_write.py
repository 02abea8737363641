from pathlib import Path
path = Path("data.txt")
path.write_text("line one\nline two\n", encoding="utf-8")
with open(path, "a") as file:
    file.write("line three\n")
print(path.read_text().splitlines(), path.stat().st_size, path.exists(), path.suffix)
path.unlink()
print(path.exists())
