# files: {"os.py": "raise SystemExit('os')", "io.py": "raise SystemExit('io')", "time.py": "raise SystemExit('time')", "abc.py": "raise SystemExit('abc')", "sys.py": "raise SystemExit('sys')", "codecs.py": "raise SystemExit('codecs')"}
import abc, codecs, io, os, sys, time
print(os.sep, io.StringIO("x").read(), time.time() > 0, abc.ABC.__name__, codecs.lookup("utf8").name, sys.argv)
