import os
with open("numbers.bin", "wb+") as file:
    file.write(bytes(range(100)))
    file.seek(-10, os.SEEK_END)
    print(list(file.read(3)), file.tell())
    file.truncate(50)
print(os.path.getsize("numbers.bin"))
