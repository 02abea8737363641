import importlib, sys
for name in ("curses", "curses.panel", "readline", "sqlite3", "ssl", "lzma", "bz2", "zlib", "ctypes", "dbm.gnu", "dbm.ndbm", "uuid", "decimal", "_elementtree", "crypt", "spwd", "nis", "ossaudiodev", "audioop", "msvcrt", "winreg", "distutils", "imp", "asyncore", "lib2to3", "idlelib", "turtledemo", "test", "test.support", "site", "ensurepip", "setuptools", "wheel", "tomllib", "this", "antigravity_"):
    try:
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(name)
        print(name, "yes")
    except ImportError as error:
        print(name, type(error).__name__, error)
import curses
try:
    curses.setupterm("xterm"); print(curses.tigetnum("cols") > 0, curses.tigetstr("clear"))
except curses.error as error:
    print(error)
try:
    import tkinter
    tkinter.Tk()
except Exception as error:
    print(type(error).__name__, error)
curses.wrapper(print)
