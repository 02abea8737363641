"""A client with the official SDK for Python: carries out the requests that it reads, one JSON line each, and writes the answers.

Arguments: the era ("legacy" or "auto"), then the address of a server, or a command that serves over stdio.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def main(era, *server):
    is_address = server[0].startswith("http")
    target = server[0] if is_address else StdioServerParameters(command=server[0], args=list(server[1:]), env=dict(os.environ))
    async with Client(target, mode=era) as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            answer = await carry_out(client, json.loads(line))
            print(json.dumps(answer), flush=True)


async def carry_out(client, request):
    try:
        if "tool" in request:
            result = await client.call_tool(request["tool"], request["arguments"])
        elif "uri" in request:
            result = await client.read_resource(request["uri"])
        else:
            result = await client.list_tools()
    except Exception as error:
        return {"error": str(error)}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


asyncio.run(main(*sys.argv[1:]))
