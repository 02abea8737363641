import runpy, sys, zipfile
open("script.py", "w").write("import sys\nprint(__name__, sys.argv[0].endswith('script.py'))\nresult = 5\n")
print(runpy.run_path("script.py", run_name="other")["result"])
with zipfile.ZipFile("lib.zip", "w") as archive:
    archive.writestr("zipped.py", "value = 'from zip'\n")
    archive.writestr("__main__.py", "print('zip main')\n")
sys.path.insert(0, "lib.zip")
import zipped
print(zipped.value, zipped.__file__, type(zipped.__loader__).__name__)
runpy.run_path("lib.zip")
