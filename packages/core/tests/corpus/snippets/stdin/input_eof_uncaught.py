name = input("Name? ")
print(name)
