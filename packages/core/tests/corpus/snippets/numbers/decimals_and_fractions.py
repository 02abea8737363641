from decimal import Decimal, ROUND_HALF_UP, getcontext, localcontext, InvalidOperation
from fractions import Fraction
print(Decimal("0.1") + Decimal("0.2"), Decimal(1) / Decimal(7), Decimal("2.345").quantize(Decimal("0.01"), ROUND_HALF_UP))
with localcontext() as context:
    context.prec = 50
    print(Decimal(2).sqrt())
print(Fraction(1, 3) + Fraction("0.25"), Fraction(3.14).limit_denominator(100), getcontext().prec)
try:
    Decimal("x")
except InvalidOperation as error:
    print(error)
