import threading

for number in range(5000):
    print("main", number)


def say(name):
    for number in range(2000):
        print(name, number)
    print(threading.active_count(), sorted(thread.name for thread in threading.enumerate()))


for name in "abc":
    thread = threading.Thread(target=say, args=(name,), name=name)
    thread.start()
    thread.join()
for number in range(5000):
    print("main again", number)
print(threading.active_count(), threading.enumerate()[0].name)
