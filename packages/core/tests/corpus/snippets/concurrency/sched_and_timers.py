import sched, signal, threading, time
scheduler = sched.scheduler(time.monotonic, time.sleep)
for delay, name in ((0.02, "second"), (0.01, "first")):
    scheduler.enter(delay, 1, print, (name,))
scheduler.run()
signal.signal(signal.SIGALRM, lambda number, frame: print("alarm", signal.Signals(number).name))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
