import decimal, fractions, statistics, threading
from decimal import Decimal, ROUND_HALF_EVEN, ROUND_HALF_UP, getcontext, localcontext
print(getcontext(), Decimal(0.1), Decimal("0.1") + Decimal("0.2"), Decimal(1) / 7)
with localcontext() as context:
    context.prec = 50; context.rounding = decimal.ROUND_UP; print(Decimal(2).sqrt(), Decimal(1) / 3)
print(Decimal("2.675").quantize(Decimal("0.01"), ROUND_HALF_UP), round(Decimal("2.5")), Decimal("1e400") * 10, f"{Decimal('1234567.891'):,.2f}", Decimal("-0").is_signed())
for text in ("abc", "NaN", "sNaN", "Infinity"):
    try:
        print(Decimal(text) + 1)
    except decimal.InvalidOperation as error:
        print(type(error).__name__, error)
getcontext().prec = 5
thread = threading.Thread(target=lambda: print("thread", getcontext().prec)); thread.start(); thread.join()
print(getcontext().prec, getcontext().flags[decimal.Inexact], decimal.HAVE_THREADS, decimal.MAX_PREC)
data = [1.5, 2.5, 2.5, 4]
print(statistics.mean(data), statistics.median(data), statistics.mode(data), statistics.stdev(data), statistics.quantiles(data, n=4), statistics.NormalDist(0, 1).cdf(1.96), statistics.linear_regression([1, 2, 3], [2, 4, 6]), statistics.fmean([Decimal(1), fractions.Fraction(1, 3)]))
print(statistics.correlation([1, 2, 3], [3, 2, 1]), statistics.geometric_mean([1, 10, 100]), fractions.Fraction(3.14).limit_denominator(100), sum(map(Decimal, ["0.1"] * 10)))
statistics.mean([])
