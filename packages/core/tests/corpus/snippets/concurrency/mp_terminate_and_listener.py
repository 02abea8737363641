import multiprocessing as mp, signal, time
from multiprocessing.connection import Client, Listener
def serve(ready):
    with Listener("socket-file", authkey=b"k") as listener:
        ready.set()
        with listener.accept() as connection:
            connection.send(connection.recv() * 2)
if __name__ == "__main__":
    ready = mp.Event()
    p = mp.Process(target=serve, args=(ready,)); p.start(); ready.wait()
    with Client("socket-file", authkey=b"k") as client:
        client.send("ab"); print(client.recv())
    p.join()
    p = mp.Process(target=time.sleep, args=(60,)); p.start(); p.terminate(); p.join()
    print(p.exitcode == -signal.SIGTERM)
