import os, signal, time
def ring(number, frame):
    print("rang", signal.Signals(number).name, frame.f_code.co_name, frame.f_lineno > 0)
    raise TimeoutError("too slow")
def wait():
    time.sleep(30)
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    wait()
except TimeoutError as error:
    print(error)
print(signal.alarm(100), signal.alarm(0) in (99, 100), signal.getitimer(signal.ITIMER_REAL))
ticks = []
signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
while len(ticks) < 3: signal.pause()
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(ticks) >= 3)
signal.signal(signal.SIGPROF, lambda *_: ticks.append("cpu"))
signal.setitimer(signal.ITIMER_PROF, 0.01)
while "cpu" not in ticks: sum(range(1000))
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigpending(), signal.sigwait({signal.SIGUSR1}), signal.sigtimedwait({signal.SIGUSR1}, 0.01))
print(signal.getsignal(signal.SIGPIPE), signal.strsignal(signal.SIGKILL), signal.SIGRTMIN > 31, flush=True)
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.alarm(1); time.sleep(30)
