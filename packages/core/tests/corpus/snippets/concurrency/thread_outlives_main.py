import threading, time
def late():
    time.sleep(0.1)
    print("late thread done")
threading.Thread(target=late).start()
print("main is done")
