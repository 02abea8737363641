import multiprocessing as mp
mp.set_start_method("spawn")
print("top level", __name__)
def nothing(): pass
p = mp.Process(target=nothing)
p.start()
p.join()
print(p.exitcode)
