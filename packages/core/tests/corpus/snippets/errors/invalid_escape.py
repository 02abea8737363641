pattern = "\d+"
print(pattern)
