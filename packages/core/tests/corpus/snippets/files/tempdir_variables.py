import os, tempfile
print(tempfile.gettempdir() == os.environ.get("TMPDIR", "/tmp"), tempfile.gettempprefix())
os.environ["TMPDIR"] = os.getcwd()
tempfile.tempdir = None
print(tempfile.gettempdir() == os.getcwd())
