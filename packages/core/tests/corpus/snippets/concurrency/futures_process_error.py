from concurrent.futures import ProcessPoolExecutor
def fail(n):
    raise ValueError(f"failed for {n}")
if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        try:
            pool.submit(fail, 7).result()
        except ValueError as error:
            print(error, type(error.__cause__).__name__)
