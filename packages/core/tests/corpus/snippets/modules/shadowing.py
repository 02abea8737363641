open("random.py", "w").write("def randint(a, b): return 'shadowed'\n")
import random
print(random.randint(1, 2))
