def ping(n): return pong(n)
def pong(n): return ping(n)
ping(0)
