import asyncio, contextvars
request = contextvars.ContextVar("request", default="none")
async def handle(name):
    request.set(name)
    await asyncio.sleep(0)
    return request.get()
async def main():
    print(await asyncio.gather(*(handle(n) for n in "abc")), request.get())
asyncio.run(main())
print(contextvars.copy_context().run(lambda: request.get()))
