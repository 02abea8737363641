import multiprocessing as mp
def work(connection):
    connection.send({"name": __name__, "start": mp.get_start_method()})
    connection.close()
if __name__ == "__main__":
    mp.set_start_method("spawn")
    ours, theirs = mp.Pipe()
    process = mp.Process(target=work, args=(theirs,))
    process.start()
    print(ours.recv())
    process.join()
    print(process.exitcode)
