try:
    print(len(str(10 ** 5000)))
except ValueError as error:
    print(error)
print(f"{10**30:,}", f"{12345678:_}", int("ff", 16), int("0b101", 0), (255).to_bytes(2, "big"))
