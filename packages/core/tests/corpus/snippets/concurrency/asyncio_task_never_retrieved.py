import asyncio, gc
async def fail():
    raise ValueError("nobody looks")
async def main():
    task = asyncio.create_task(fail(), name="lonely")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del task
    gc.collect()
    print("still going")
asyncio.run(main())
