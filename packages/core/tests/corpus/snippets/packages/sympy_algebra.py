# packages: ["sympy"]
from sympy import Matrix, Rational, diff, expand, integrate, latex, limit, oo, pprint, sin, solve, symbols
x, y = symbols("x y")
print(solve(x**2 - 5*x + 6, x), diff(sin(x) * x, x), integrate(x**2, (x, 0, 3)), expand((x + y)**3), limit(sin(x) / x, x, 0))
print(Matrix([[1, 2], [3, 4]]).det(), Rational(1, 3) + Rational(1, 6), latex(x**2 / y))
pprint(x**2 / (y + 1))
