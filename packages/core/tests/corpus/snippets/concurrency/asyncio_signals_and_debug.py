import asyncio, os, signal
async def main():
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    os.kill(os.getpid(), signal.SIGTERM)
    await stop.wait()
    print("stopped", type(loop).__name__)
asyncio.run(main(), debug=False)
