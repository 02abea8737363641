import threading, time
def worker():
    threading.main_thread().join()
    print("main thread has ended")
threading.Thread(target=worker).start()
print("end of main")
