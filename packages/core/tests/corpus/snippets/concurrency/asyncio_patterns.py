import asyncio, functools, sys, time
async def worker(name, queue, results):
    while True:
        item = await queue.get()
        try:
            await asyncio.sleep(0.001 * item); results.append(item)
        finally:
            queue.task_done()
async def main():
    queue, results = asyncio.Queue(), []
    tasks = [asyncio.create_task(worker(n, queue, results), name=f"worker-{n}") for n in range(3)]
    for n in range(6): queue.put_nowait(n)
    await queue.join()
    for task in tasks: task.cancel()
    print(sorted(results), [type(one).__name__ for one in await asyncio.gather(*tasks, return_exceptions=True)], tasks[0].get_name())
    gate = asyncio.Semaphore(2); running = peak = 0
    async def limited():
        nonlocal running, peak
        async with gate:
            running += 1; peak = max(peak, running); await asyncio.sleep(0.001); running -= 1
    await asyncio.gather(*(limited() for _ in range(6))); print(peak)
    event = asyncio.Event(); asyncio.get_running_loop().call_later(0.01, event.set); print(await asyncio.wait_for(event.wait(), 5))
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.01)
    except asyncio.TimeoutError as error:
        print(repr(error))
    done, pending = await asyncio.wait([asyncio.create_task(asyncio.sleep(n, n)) for n in (0, 60)], return_when=asyncio.FIRST_COMPLETED); print(len(done), len(pending)); [one.cancel() for one in pending]
    print(await asyncio.shield(asyncio.sleep(0, "shielded")), type(asyncio.get_running_loop()).__name__, len(asyncio.all_tasks()) >= 1)
    reader, writer = await asyncio.open_connection(sock=PAIR[0]); PAIR[1].sendall(b"over a pair\n"); print(await reader.readline()); writer.write(b"back"); await writer.drain(); print(PAIR[1].recv(10)); writer.close()
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: print("handled:", context["message"], context.get("exception")))
    asyncio.get_running_loop().call_soon(lambda: 1 / 0); await asyncio.sleep(0)
    raise LookupError("out of main")
import socket
PAIR = socket.socketpair()
asyncio.run(main(), debug=False)
