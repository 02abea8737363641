import os, signal
def handler(number, frame):
    print("caught", signal.Signals(number).name, frame.f_code.co_name)
for number in (signal.SIGUSR1, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    print(signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler))
    signal.signal(number, handler)
    os.kill(os.getpid(), number)
print(signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN, signal.strsignal(signal.SIGSEGV))
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
signal.raise_signal(signal.SIGUSR1)
print(signal.sigpending())
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
