async def work():
    pass


def start():
    kept = work()
    raise ValueError("before it is awaited")


start()
