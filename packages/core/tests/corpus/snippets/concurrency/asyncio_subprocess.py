import asyncio, sys
async def main():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(input()[::-1])", stdin=-1, stdout=-1)
    out, _ = await process.communicate(b"abc\n")
    print(out, process.returncode)
    shell = await asyncio.create_subprocess_shell("echo out; echo err >&2; exit 3", stdout=-1, stderr=-1)
    print(await shell.communicate(), shell.returncode)
asyncio.run(main())
