import asyncio
result = await asyncio.sleep(0)
