async def work():
    pass
work()
print("after")
