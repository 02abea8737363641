"""The one way out of a build jail: passes bytes between a port of its loopback and the index proxy's socket."""

import contextlib
import os
import socket

_CHUNK = 65536


def listen(port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


def serve(listener, path):
    """Does not return; it ends with the jail."""
    import asyncio

    async def pass_on(reader, writer):
        with contextlib.suppress(OSError):
            outer_reader, outer_writer = await asyncio.open_unix_connection(path)
            with contextlib.closing(outer_writer):
                await asyncio.gather(_copy(reader, outer_writer), _copy(outer_reader, writer))
        writer.close()

    async def serve_forever():
        server = await asyncio.start_server(pass_on, sock=listener)
        await server.serve_forever()

    try:
        asyncio.run(serve_forever())
    finally:
        os._exit(1)


async def _copy(reader, writer):
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
        await writer.drain()
    writer.write_eof()
