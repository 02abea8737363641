import cProfile, io, profile, pstats, re, sys, subprocess
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def clean(text): return re.sub(r"\d+\.\d{3}", "T", text)
def shown(profiler):
    out = io.StringIO(); stats = pstats.Stats(profiler, stream=out).strip_dirs().sort_stats("ncalls", "name"); stats.print_stats("fib"); stats.print_callers("fib")
    return clean(out.getvalue())
with cProfile.Profile() as profiler: fib(10)
print(shown(profiler))
cProfile.run("fib(5)", "stats.out")
print(pstats.Stats("stats.out").total_calls)
plain = profile.Profile(); plain.runcall(fib, 3); print(sum(entry[0] for key, entry in pstats.Stats(plain).stats.items() if key[2] == "fib"))
open("tool.py", "w").write("import sys\nprint(sys.argv, __name__)\n")
for module in ("cProfile", "profile"):
    ended = subprocess.run([sys.executable, "-m", module, "-s", "name", "tool.py", "x"], capture_output=True, text=True)
    print(ended.returncode, ended.stdout.split("\n")[0], "function calls" in ended.stdout, ended.stderr)
