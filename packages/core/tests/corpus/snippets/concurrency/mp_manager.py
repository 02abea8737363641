from multiprocessing import Manager, Process
def work(shared, items):
    shared["key"] = "value"
    items.append(42)
if __name__ == "__main__":
    with Manager() as manager:
        shared, items = manager.dict(), manager.list([1])
        process = Process(target=work, args=(shared, items))
        process.start(); process.join()
        print(dict(shared), list(items))
