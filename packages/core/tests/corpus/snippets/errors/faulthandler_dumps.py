import faulthandler, os, signal, subprocess, sys, threading, time
print(faulthandler.is_enabled())
def inner(): faulthandler.dump_traceback(sys.stdout, all_threads=False)
sys.stdout.flush(); inner()
with open("dump.txt", "w+") as file:
    faulthandler.register(signal.SIGUSR1, file=file, all_threads=False)
    os.kill(os.getpid(), signal.SIGUSR1); faulthandler.unregister(signal.SIGUSR1)
    file.seek(0); print(file.read().replace(os.getcwd(), ""))
with open("late.txt", "w+") as file:
    faulthandler.dump_traceback_later(0.05, file=file); time.sleep(0.3); faulthandler.cancel_dump_traceback_later()
    file.seek(0); print(file.readline().strip().partition(" (")[0])
for code in ("import faulthandler; faulthandler.enable(); faulthandler._sigsegv()", "import os; os.abort()", "import faulthandler; faulthandler._sigabrt()", "import ctypes; ctypes.string_at(0)"):
    ended = subprocess.run([sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True)
    print(ended.returncode, ended.stderr.split("\n")[0])
faulthandler.enable(all_threads=False)
print(faulthandler.is_enabled(), flush=True)
os.kill(os.getpid(), signal.SIGSEGV)
