import os, secrets, string
password = "".join(secrets.choice(string.ascii_letters) for _ in range(12))
print(len(password), password.isalpha(), len(os.getrandom(8)), secrets.randbelow(1))
