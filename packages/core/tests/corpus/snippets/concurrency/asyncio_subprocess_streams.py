import asyncio, signal, sys
CHILD = "import sys, time\nfor n in range(3): print('line', n, flush=True)\nprint('problem', file=sys.stderr)\ntime.sleep(60)"
async def main():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    async for line in process.stdout:
        print("got", line.decode().rstrip())
        if line == b"line 2\n":
            break
    print((await process.stderr.readline()).decode().rstrip())
    process.send_signal(signal.SIGTERM)
    print(await process.wait())
    try:
        async with asyncio.timeout(0.2) if sys.version_info >= (3, 11) else Timeout():
            await (await asyncio.create_subprocess_exec("sleep", "60")).wait()
    except (TimeoutError, asyncio.TimeoutError) as error:
        print(type(error).__name__)
    results = await asyncio.gather(*(asyncio.create_subprocess_shell(f"exit {n}") for n in range(4)))
    print([await one.wait() for one in results])
    try:
        await asyncio.create_subprocess_exec("no-such-program")
    except FileNotFoundError as error:
        print(error)
class Timeout:
    async def __aenter__(self): raise TimeoutError
    async def __aexit__(self, *error): pass
asyncio.run(main())
