import collections, copyreg, pickle, subprocess, sys, multiprocessing
class Node:
    def __init__(self, value, next=None): self.value, self.next = value, next
    def __getstate__(self): return {"value": self.value, "next": self.next}
    def __eq__(self, other): return self.__dict__ == other.__dict__
Point = collections.namedtuple("Point", "x y")
def function(): return "called"
class Child:
    class Inner: pass
def send(queue): queue.put([Node(1, Node(2)), Point(1, 2), function])
if __name__ == "__main__":
    data = pickle.dumps([Node(1), Point(1, 2), function, Child.Inner, print])
    print(pickle.loads(data)[0] == Node(1), pickle.loads(data)[2](), b"__main__" in data)
    open("data.pickle", "wb").write(data)
    for code in ("import pickle; pickle.load(open('data.pickle', 'rb'))", "import pickle, __main__, main; vars(__main__).update(vars(main)); print(pickle.load(open('data.pickle', 'rb'))[1])"):
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        print(ended.returncode, ended.stdout, ended.stderr.strip().rpartition("\n")[2])
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method); queue = context.Queue()
        process = context.Process(target=send, args=(queue,)); process.start()
        got = queue.get(); process.join(); print(method, got[0].next.value, got[1], got[2]())
    for bad in (lambda: None, (n for n in ()), sys, open("main.py")):
        try:
            pickle.dumps(bad)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            print(type(error).__name__)
    class Local: pass
    pickle.loads(pickle.dumps(Node(3)).replace(b"Node", b"Gone"))
