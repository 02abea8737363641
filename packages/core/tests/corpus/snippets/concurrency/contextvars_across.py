import asyncio, contextvars, concurrent.futures, threading
user = contextvars.ContextVar("user", default="nobody")
print(user.get(), len(contextvars.copy_context()), user.name)
token = user.set("ann")
async def child(name):
    before = user.get(); user.set(name); await asyncio.sleep(0)
    return before, user.get(), await asyncio.to_thread(user.get)
async def main():
    print(await asyncio.gather(child("bob"), child("cy")), user.get())
    loop = asyncio.get_running_loop()
    print(await loop.run_in_executor(None, user.get))
    loop.call_soon(lambda: print("soon", user.get()), context=contextvars.Context())
    await asyncio.sleep(0)
asyncio.run(main())
context = contextvars.copy_context()
context.run(user.set, "dee")
print(user.get(), context[user], context.get(user), list(context.keys()) == [user])
thread = threading.Thread(target=lambda: print("thread", user.get())); thread.start(); thread.join()
user.reset(token); print(user.get())
try:
    user.reset(token)
except RuntimeError as error:
    print(str(error).partition(" at 0x")[0])
empty = contextvars.ContextVar("empty")
empty.get()
