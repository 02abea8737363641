import os, threading
os.mkfifo("pipe")
def produce():
    with open("pipe", "w") as pipe:
        pipe.write("through the fifo\n")
thread = threading.Thread(target=produce)
thread.start()
print(open("pipe").read(), end="")
thread.join()
