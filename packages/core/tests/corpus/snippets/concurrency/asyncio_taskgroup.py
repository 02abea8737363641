# python: 11
import asyncio
async def fail():
    await asyncio.sleep(0)
    raise ValueError("task failed")
async def main():
    async with asyncio.TaskGroup() as group:
        task = group.create_task(asyncio.sleep(0, "value"))
    print(task.result())
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
    except* ValueError as errors:
        print(errors.exceptions)
    async with asyncio.timeout(5):
        print("in time")
asyncio.run(main())
