import math, sys
print(0.1 + 0.2, 1e308 * 10, -0.0, float("nan") == float("nan"), round(2.5), round(2.675, 2), 7 // -2, -7 % 3)
print(math.isclose(0.1 + 0.2, 0.3), math.fsum([0.1] * 10), math.comb(50, 25), math.gcd(12, 18), math.lcm(4, 6), math.prod(range(1, 6)))
print((0.1).hex(), (0.75).as_integer_ratio(), sys.float_info.max, math.nextafter(1, 2), math.tau)
for bad in (lambda: 1 / 0, lambda: math.sqrt(-1), lambda: math.exp(1000), lambda: int("x"), lambda: float("1,5")):
    try:
        bad()
    except (ArithmeticError, ValueError) as error:
        print(type(error).__name__, error)
