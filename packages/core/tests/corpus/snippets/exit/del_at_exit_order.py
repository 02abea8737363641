import atexit, threading
class Resource:
    def __del__(self): print("3 __del__")
resource = Resource()
atexit.register(print, "2 atexit")
thread = threading.Thread(target=lambda: print("1 thread"))
thread.start()
thread.join()
