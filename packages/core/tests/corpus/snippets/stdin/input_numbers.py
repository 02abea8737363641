# stdin: "3 4 5\n10\n"
numbers = list(map(int, input("Numbers: ").split()))
factor = int(input("Factor: "))
print([factor * number for number in numbers])
