import asyncio
class Echo(asyncio.DatagramProtocol):
    def connection_made(self, transport): self.transport = transport
    def datagram_received(self, data, address): self.transport.sendto(data[::-1], address)
class Client(asyncio.DatagramProtocol):
    def __init__(self, done): self.done = done
    def datagram_received(self, data, address): self.done.set_result(data)
async def main():
    loop = asyncio.get_running_loop()
    server, _ = await loop.create_datagram_endpoint(Echo, local_addr=("127.0.0.1", 0))
    done = loop.create_future()
    client, _ = await loop.create_datagram_endpoint(lambda: Client(done), remote_addr=server.get_extra_info("sockname"))
    client.sendto(b"abc")
    print(await asyncio.wait_for(done, 5))
    client.close(); server.close()
asyncio.run(main())
