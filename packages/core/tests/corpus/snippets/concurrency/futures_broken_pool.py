import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        try:
            pool.submit(os._exit, 1).result()
        except BrokenProcessPool as error:
            print(error)
