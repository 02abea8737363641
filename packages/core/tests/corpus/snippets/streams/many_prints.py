for number in range(20000):
    print(number)
