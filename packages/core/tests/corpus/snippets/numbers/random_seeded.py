import random
random.seed(42)
print([random.randint(1, 100) for _ in range(5)], random.random(), random.choice("abc"), random.sample(range(10), 3))
deck = list(range(10))
random.shuffle(deck)
print(deck, random.gauss(0, 1), random.choices("ab", weights=[9, 1], k=5), random.Random(7).getrandbits(16))
