import cmath
print((1 + 2j) * (3 - 1j), abs(3 + 4j), cmath.exp(1j * cmath.pi), complex("1+2j").conjugate(), cmath.polar(1j))
print(hash(1) == hash(1.0) == hash(True), hash((1, 2)), hash(2 ** 61), hash(float("inf")))
