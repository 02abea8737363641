from multiprocessing.managers import BaseManager
import queue
class QueueManager(BaseManager): pass
shared = queue.Queue()
QueueManager.register("get_queue", callable=lambda: shared)
if __name__ == "__main__":
    import threading
    manager = QueueManager(address=("127.0.0.1", 0), authkey=b"abc")
    server = manager.get_server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = QueueManager(address=server.address, authkey=b"abc")
    client.connect()
    client.get_queue().put("through the manager")
    print(shared.get(timeout=5))
