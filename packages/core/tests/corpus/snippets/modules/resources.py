# files: {"shop/__init__.py": "", "shop/data/prices.csv": "tea,3\ncoffee,4\n", "shop/text.txt": "Gr\u00fc\u00dfe"}
import importlib.resources, importlib.util, pkgutil, sys, zipfile
files = importlib.resources.files("shop")
print(files.joinpath("data", "prices.csv").read_text(), (files / "text.txt").read_text("utf-8"), sorted(entry.name for entry in files.iterdir() if not entry.name.startswith("__")))
with importlib.resources.as_file(files / "text.txt") as path:
    print(path.name, path.exists(), path.is_absolute())
print(pkgutil.get_data("shop", "data/prices.csv"), importlib.util.find_spec("shop.missing"))
with zipfile.ZipFile("lib.zip", "w") as archive:
    archive.writestr("packed/__init__.py", "def where(): return __file__[-24:]"); archive.writestr("packed/note.txt", "zipped")
sys.path.insert(0, "lib.zip")
import packed
print(packed.where(), importlib.resources.files("packed").joinpath("note.txt").read_text(), packed.__spec__.loader.__class__.__name__)
with importlib.resources.as_file(importlib.resources.files("packed") / "note.txt") as path: print(path.read_bytes())
print(sorted(name for _, name, _ in pkgutil.iter_modules(["."])), importlib.util.find_spec("json").origin.endswith("json/__init__.py"))
files.joinpath("nothing.txt").read_text()
