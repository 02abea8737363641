import cProfile, pstats
def slow(): return [n for n in range(1000)]
cProfile.run("slow()", "stats.out")
print(pstats.Stats("stats.out").total_calls > 0)
