def divide(a, b):
    return a / b
def main():
    values = [1, 2, 0]
    for value in values:
        print(divide(10, value))
main()
