import os, random, uuid
print(len({random.random() for _ in range(100)}), len(os.urandom(8)), random.SystemRandom().random() < 1)
