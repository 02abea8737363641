def sieve(limit):
    flags = bytearray([1]) * (limit + 1)
    flags[0:2] = b"\0\0"
    for n in range(2, int(limit ** 0.5) + 1):
        if flags[n]:
            flags[n * n::n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n, flag in enumerate(flags) if flag]
primes = sieve(100_000)
print(len(primes), primes[-1], pow(3, 10 ** 6, 10 ** 9 + 7), (2 ** 521 - 1) % 1000, 1 << 100, (-5).bit_length(), 0b1011.bit_count())
