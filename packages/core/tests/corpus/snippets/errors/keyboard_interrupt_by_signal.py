import os, signal, time
print("start", flush=True)
os.kill(os.getpid(), signal.SIGINT)
time.sleep(5)
