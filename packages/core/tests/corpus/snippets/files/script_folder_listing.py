import os
print(sorted(os.listdir(".")))
print(sorted(entry.name for entry in os.scandir()))
