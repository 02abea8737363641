import signal

seen = 0


def count(number, frame):
    global seen
    seen += 1


signal.signal(signal.SIGALRM, count)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for number in range(20_000):
    print("line", number)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
print(signal.sigwait([signal.SIGALRM]).name)
signal.setitimer(signal.ITIMER_REAL, 0)
print(seen >= 0)
