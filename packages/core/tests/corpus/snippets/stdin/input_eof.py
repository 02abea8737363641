try:
    name = input("Name? ")
except EOFError as error:
    print("EOF:", error)
