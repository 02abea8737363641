import asyncio, concurrent.futures
async def handle(reader, writer):
    writer.write(await reader.readexactly(3))
    writer.close()
async def main():
    server = await asyncio.start_unix_server(handle, "sock")
    reader, writer = await asyncio.open_unix_connection("sock")
    writer.write(b"abc")
    print(await reader.read())
    loop = asyncio.get_running_loop()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        print(await loop.run_in_executor(pool, pow, 2, 10))
    server.close()
asyncio.run(main())
