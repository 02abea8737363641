import asyncio
async def producer(queue):
    for n in range(3):
        await queue.put(n)
    await queue.put(None)
async def main():
    queue = asyncio.Queue(1)
    task = asyncio.create_task(producer(queue))
    while (item := await queue.get()) is not None:
        print("got", item)
    await task
    lock = asyncio.Lock()
    async with lock:
        print(lock.locked())
    async with asyncio.Semaphore(2):
        print(await asyncio.to_thread(sum, [1, 2]))
asyncio.run(main())
