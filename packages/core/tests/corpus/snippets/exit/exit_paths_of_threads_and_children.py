import atexit, os, signal, subprocess, sys, threading, time
atexit.register(print, "registered first")
@atexit.register
def last(): print("registered second", threading.active_count(), sys.is_finalizing())
threading.Thread(target=lambda: (threading.main_thread().join(), print("thread ends after main"))).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
child = subprocess.Popen([sys.executable, "-c", "import atexit, sys; atexit.register(print, 'child exits'); sys.exit('child message')"]); print(child.wait(), flush=True)
class Guard:
    def __enter__(self): return self
    def __exit__(self, kind, value, trace): print("left by", kind.__name__, value)
def handler(number, frame): sys.exit(128 + number)
signal.signal(signal.SIGTERM, handler)
try:
    with Guard():
        os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)
finally:
    print("finally")
