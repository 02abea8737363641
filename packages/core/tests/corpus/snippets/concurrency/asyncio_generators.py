import asyncio
class Resource:
    async def __aenter__(self): print("open"); return self
    async def __aexit__(self, *exc): print("close", exc[0])
async def ticker(n):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            yield i
    finally:
        print("generator closed")
async def main():
    async with Resource():
        print([i async for i in ticker(3) if i])
    async for i in ticker(5):
        break
    task = asyncio.create_task(asyncio.sleep(100))
    await asyncio.sleep(0)
    task.cancel("stop")
    try:
        await task
    except asyncio.CancelledError as error:
        print("cancelled", error)
asyncio.run(main())
