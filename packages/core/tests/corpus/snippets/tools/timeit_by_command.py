import re, shutil, subprocess, sys, timeit
def clean(text): return re.sub(r"[\d.]+ ?(nsec|usec|msec|sec|ns|us|ms)", "T", re.sub(r"^\d+ loops?", "N loops", text))
print(clean(subprocess.run([sys.executable, "-m", "timeit", "-n", "10", "-r", "2", "-s", "x = 1", "x + 1"], capture_output=True, text=True).stdout))
ended = subprocess.run(["python", "-m", "timeit", "-n", "1", "x +"], capture_output=True, text=True); print(ended.returncode, ended.stderr.strip().split("\n")[-1])
ended = subprocess.run("python3 -m timeit -n 1 -r 1 -u sec 'pass' | head -c 6", shell=True, capture_output=True, text=True); print(ended)
print(shutil.which("python") is not None, shutil.which("python3") is not None, shutil.which("no-such"))
number, took = timeit.Timer("''.join(parts)", "parts = ['x'] * 10").autorange(); print(number > 100, took >= 0.2)
timer = timeit.Timer("1 / zero", globals={"zero": 0})
try:
    timer.timeit(1)
except ZeroDivisionError:
    timer.print_exc(sys.stdout)
print(timeit.default_timer.__name__)
