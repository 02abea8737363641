import subprocess, sys
code = """
import multiprocessing as mp, os
from multiprocessing import shared_memory
lock = mp.get_context("spawn").Lock()
memory = shared_memory.SharedMemory(create=True, size=100)
print(memory.name, lock._semlock.name, flush=True)
os._exit(0)
"""
look = """
import sys
from multiprocessing import shared_memory
import _multiprocessing
for find in (lambda: shared_memory.SharedMemory(sys.argv[1]), lambda: _multiprocessing.SemLock._rebuild(0, 1, 1, sys.argv[2])):
    try: print(find())
    except FileNotFoundError as error: print(type(error).__name__)
"""
ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
memory, lock = ended.stdout.split()
print(ended.stderr.replace(memory, "MEMORY").replace(lock, "LOCK").replace(sys.base_prefix, ""))
print(subprocess.run([sys.executable, "-c", look, memory, lock], capture_output=True, text=True).stdout)
