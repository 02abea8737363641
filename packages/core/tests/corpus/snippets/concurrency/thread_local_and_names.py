import threading, _thread, sys
local = threading.local(); local.x = 1
def work():
    print(threading.current_thread().name, hasattr(local, "x"), threading.active_count())
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start(); thread.join()
print(threading.main_thread() is threading.current_thread(), len(threading.enumerate()), threading.get_ident() == _thread.get_ident())
print(threading.stack_size(), sys.getswitchinterval(), threading.excepthook is threading.__excepthook__, threading.gettrace())
