#: io.open | no-files | static operation 2
import io
io.open("x")
#: open from io | no-files | static operation 1
from io import open
#: io.open by a computed name | no-files | run operation 3
import io
for name in ["open"]:
    getattr(io, name)("x", "w")
#: pathlib writes | no-files | run operation 2
import pathlib
pathlib.Path("x").write_text("x")
#: pathlib opens | no-files | run operation 2
from pathlib import Path
Path("x").open("w")
#: codecs.open | no-files | static operation 2
import codecs
codecs.open("x")
#: the builtin open | no-files | run operation 1
open("data.csv").read()
#: os.open | no-files | static operation 2
import os
os.open("x", os.O_CREAT)
#: a folder is listed | no-files | static operation 2
import os
os.listdir("/")
#: a folder is listed by pathlib | no-files | run operation 2
import pathlib
list(pathlib.Path("/").iterdir())
#: a file is removed | no-files | run operation 2
import pathlib
pathlib.Path("data.csv").unlink()
#: a temporary file | no-files | run operation 2
import tempfile
tempfile.mkstemp()
#: a copy by shutil | no-files | run operation 2
import shutil
shutil.copyfile("data.csv", "copy.csv")
#: a database in a file | no-files | run operation 2
import sqlite3
sqlite3.connect("x.db")
#: lines by linecache | no-files | run operation 2
import linecache
linecache.getlines("data.csv")
#: lines by fileinput | no-files | run operation 2
import fileinput
list(fileinput.input("data.csv"))
#: a log file | no-files | run operation 2
import logging
logging.FileHandler("x.log")
#: the printer of the licence | no-files | run operation 4
import _sitebuiltins
printer = _sitebuiltins._Printer("x", "", ["data.csv"], ["."])
printer._Printer__filenames = ["data.csv"]
print(printer)
#: a loader reads data | no-files | run operation 2
import json
json.__loader__.get_data("data.csv")
#: in a thread | no-files | run operation 2
import threading
thread = threading.Thread(target=lambda: open("data.csv"))
thread.start()
thread.join()
#: in a thread that runs nothing of the script | no-files | run operation -
import io, threading
thread = threading.Thread(target=io.__dict__["".join(reversed("nepo"))], args=("data.csv",))
thread.start()
thread.join()
#: in a finalizer | no-files | run operation 3
class A:
    def __del__(self):
        open("data.csv")
A()
print("after")
#: a file by a package's callback | no-files-stand-in | run operation 2
import frames
frames.call(lambda: open("data.csv"))
#: os.system | no-processes | static operation 2
import os
os.system("true")
#: os.system by a computed name | no-processes | run operation 3
import os
for name in ["system"]:
    getattr(os, name)("true")
#: os.popen | no-processes | static operation 2
import os
os.popen("true")
#: subprocess.run | no-processes | static operation 2
import subprocess
subprocess.run(["true"])
#: subprocess under another name, computed | no-processes | run operation 2
import subprocess
getattr(subprocess, "".join(reversed("nur")))(["true"])
#: fork | no-processes | run operation 3
import os
for name in ["fork"]:
    getattr(os, name)()
#: the C half of subprocess | no-processes | static import 1
import _posixsubprocess
#: multiprocessing | no-processes | run operation 3
import multiprocessing
if __name__ == "__main__":
    multiprocessing.get_context("fork").Process(target=print).start()
#: a pool of processes | no-processes | run operation 3
import concurrent.futures
with concurrent.futures.ProcessPoolExecutor(1) as pool:
    list(pool.map(abs, [1]))
#: asyncio's subprocess | no-processes | run operation 3
import asyncio
async def main():
    await asyncio.get_running_loop().subprocess_shell(asyncio.SubprocessProtocol, "true")
asyncio.run(main())
#: pty | no-processes | static operation 2
import pty
pty.spawn("true")
#: a package that starts processes | no-processes-stand-in | run operation 2
import frames
frames.run(["true"])
#: a package that evaluates texts | stand-in | run operation 2
import frames
frames.evaluate("m.os.system('true')", m=frames.reading)
#: a thread of os.system itself | no-processes | run operation -
import os, threading
thread = threading.Thread(target=os.__dict__["".join(reversed("metsys"))], args=("true",))
thread.start()
thread.join()
#: ctypes is not allowed | strategic | static import 1
import ctypes
#: a library by ctypes | no-processes | run operation 2
import ctypes
ctypes.CDLL(None)
#: ctypes' own interface to Python | no-files | run operation 2
import ctypes
ctypes.pythonapi.PyRun_SimpleString(b"1")
#: a connection | no-network-events | run operation 2
import socket
socket.socket().connect(("127.0.0.1", 9))
#: create_connection | no-network-events | static operation 2
import socket
socket.create_connection(("127.0.0.1", 9))
#: a name is looked up | no-network-events | run operation 2
import socket
socket.getaddrinfo("localhost", 80)
#: urlopen | no-network-events | static operation 2
import urllib.request
urllib.request.urlopen("http://127.0.0.1:9/")
#: urlopen by an opener | no-network-events | run operation 2
import urllib.request
urllib.request.build_opener(urllib.request.ProxyHandler({})).open("http://127.0.0.1:9/")
#: http.client | no-network-events | static operation 2
from http import client
connection = client.HTTPConnection("127.0.0.1", 9)
connection.request("GET", "/")
#: a datagram | no-network-events | run operation 2
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", ("127.0.0.1", 9))
#: a listening socket | no-network-events | run operation 2
import socket
socket.socket().bind(("127.0.0.1", 0))
#: asyncio opens a connection | no-network-events | run operation 3
import asyncio
async def main():
    await asyncio.open_connection("127.0.0.1", 9)
asyncio.run(main())
#: a pickle that names os | stand-in | run import 2
import frames
frames.load(b"cos\nsystem\n(S'true'\ntR.")
#: a pickle that names posix | stand-in | run import 2
import frames
frames.load(b"cposix\nsystem\n(S'true'\ntR.")
#: a pickle that names eval | stand-in | run builtin 2
import frames
frames.load(b"cbuiltins\neval\n(S'1'\ntR.")
#: a pickle that names getattr | stand-in | run builtin 2
import frames
frames.load(b"cbuiltins\ngetattr\n(S'1'\nS'real'\ntR.")
#: a pickle of plain data | stand-in | allowed
import frames
print(frames.load(b"(lp0\nI1\na."))
#: a pickle of a date | stand-in | allowed
import frames
print(frames.load(b"cdatetime\ndate\n(I2024\nI1\nI2\ntR."))
#: pickle for the script | no-network | run import 2
import pickle
pickle.loads(b"csocket\nsocket\n.")
#: help | strategic | run import 1
help(print)
#: help for a module by name | no-network | run import 2
name = "".join(reversed("tekcos"))
help(name)
#: breakpoint starts the debugger | no-debugger | run import 1
breakpoint()
#: a package reads a file | stand-in | allowed
import frames
print(frames.read("data.csv"))
#: a package writes a file | stand-in | allowed
import frames
print(frames.store("out.csv", "a,b"))
#: standard streams | no-files | allowed
import sys
print("x", file=sys.stderr)
sys.stdout.write("y\n")
sys.stdin.read()
#: files in memory | no-files | allowed
import io, csv, zipfile
rows = list(csv.reader(io.StringIO("a,b\n1,2\n")))
with zipfile.ZipFile(io.BytesIO(), "w") as archive:
    archive.writestr("x", "y")
print(rows)
#: a database in memory | no-files | allowed
import sqlite3
print(sqlite3.connect(":memory:").execute("select 1 + 1").fetchone())
#: a traceback through the library | no-files | allowed
import json, traceback
try:
    json.loads("{")
except ValueError:
    traceback.print_exc()
#: a warning with its line | no-files | allowed
import warnings
warnings.warn("careful")
#: a source is looked up | no-files | allowed
import inspect, json
print(len(inspect.getsource(json.dumps)) > 0)
#: asyncio without processes and network | no-operations | allowed
import asyncio
async def main():
    await asyncio.sleep(0)
    return 1
print(asyncio.run(main()))
#: threads | no-operations | allowed
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(abs, [-1, 2])))
#: random numbers, hashes, time | no-operations | allowed
import random, hashlib, time, uuid, secrets
print(random.random() < 1, hashlib.sha256(b"").hexdigest()[:4], time.time() > 0, uuid.uuid4().version, len(secrets.token_hex(2)))
#: a late import by the standard library | no-operations | allowed
import datetime, decimal, email.message, json, locale
print(datetime.datetime.strptime("2024-01-02", "%Y-%m-%d"), "x".encode("punycode"), decimal.Decimal("1.1"))
#: URLs are taken apart | no-network-events | allowed
from urllib.parse import urlparse
print(urlparse("http://example.org/x").netloc)
