import threading
def explode():
    raise ValueError("in a thread")
thread = threading.Thread(target=explode, name="bomb")
thread.start()
thread.join()
print("main goes on")
