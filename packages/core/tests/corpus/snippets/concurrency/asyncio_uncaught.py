import asyncio
async def inner():
    raise RuntimeError("in a coroutine")
async def main():
    await inner()
asyncio.run(main())
