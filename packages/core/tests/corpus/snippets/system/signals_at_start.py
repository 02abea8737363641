import signal, sys
print([name.name for name in signal.Signals if name < 32 and signal.getsignal(name) not in (signal.SIG_DFL, None)])
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGPIPE), signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_REAL))
print(signal.set_wakeup_fd(-1), sys.is_finalizing())
signal.signal(signal.SIGALRM, lambda number, frame: print("alarm", signal.Signals(number).name))
signal.alarm(0); signal.raise_signal(signal.SIGALRM)
