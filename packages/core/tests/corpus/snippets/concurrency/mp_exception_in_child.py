import multiprocessing as mp
def fail():
    raise RuntimeError("child failed")
if __name__ == "__main__":
    p = mp.Process(target=fail)
    p.start(); p.join()
    print(p.exitcode)
