# stdin: "5\nabc\n7\nquit\n"
total = 0
while True:
    text = input("> ")
    if text == "quit":
        break
    try:
        total += int(text)
    except ValueError as error:
        print("invalid:", error)
print("total", total)
