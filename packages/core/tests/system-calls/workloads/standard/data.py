"""Databases, serialization, compression, hashing, logging, arithmetic: the parts of the library that open files and locks."""
import bz2, codecs, configparser, csv, ctypes.util, dbm, decimal, email, hashlib, importlib, json, locale, logging.handlers
import lzma, mailbox, pickle, pkgutil, pydoc, random, secrets, shelve, sqlite3, statistics, tempfile, timeit, tracemalloc
import unittest, uuid, venv, xml.etree.ElementTree, zlib, zoneinfo, faulthandler, gc, doctest, os

database = sqlite3.connect("data.db")
database.execute("pragma journal_mode=wal")
database.execute("create table t (n)")
database.executemany("insert into t values (?)", [(number,) for number in range(1000)])
database.commit()
with sqlite3.connect("other.db") as copy:
    database.backup(copy)
assert database.execute("select sum(n) from t").fetchone() == (499500,)
database.execute("vacuum")
database.close()
for module in (bz2, lzma, zlib):
    assert module.decompress(module.compress(b"x" * 10_000)) == b"x" * 10_000
with shelve.open("shelf") as shelf:
    shelf["a"] = [1, 2]
with dbm.open("names", "c") as names:
    names["a"] = "b"
box = mailbox.mbox("mail")
box.lock(), box.add("From: a\n\nb"), box.flush(), box.unlock(), box.close()
handler = logging.handlers.RotatingFileHandler("log", maxBytes=100, backupCount=2)
log = logging.getLogger("x")
log.addHandler(handler)
for number in range(20):
    log.error("line %d", number)
assert hashlib.sha256(b"").hexdigest().startswith("e3b0") and len(hashlib.scrypt(b"a", salt=b"b", n=16, r=1, p=1)) == 64
uuid.uuid1(), uuid.uuid4(), secrets.token_hex(), random.random()
locale.setlocale(locale.LC_ALL, ""), zoneinfo.ZoneInfo("UTC"), ctypes.util.find_library("c"), tracemalloc.start(), gc.collect()
for name in ("asyncio", "curses", "readline", "tkinter", "xml.dom.minidom", "multiprocessing.managers", "cProfile", "ensurepip"):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
faulthandler.enable()
pydoc.render_doc("json")
print("ok")
