import threading
counter, lock = 0, threading.Lock()
def work():
    global counter
    for _ in range(1000):
        with lock:
            counter += 1
threads = [threading.Thread(target=work, name=f"worker-{n}") for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(counter, threading.active_count(), threading.current_thread().name, threads[0].is_alive())
event, local = threading.Event(), threading.local()
threading.Timer(0.01, event.set).start()
print(event.wait(10), threading.main_thread() is threading.current_thread())
