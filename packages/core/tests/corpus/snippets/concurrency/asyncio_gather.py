import asyncio
async def work(n):
    await asyncio.sleep(0.01 * (3 - n))
    return n * n
async def main():
    print(await asyncio.gather(*(work(n) for n in range(3))))
    done, pending = await asyncio.wait([asyncio.create_task(work(1))], timeout=5)
    print(len(done), len(pending))
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.01)
    except asyncio.TimeoutError as error:
        print("timeout", repr(error))
asyncio.run(main())
