import os, signal, subprocess, sys, threading, time
with subprocess.Popen(["sort", "-r"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
    for word in ("b", "c", "a"): process.stdin.write(word + "\n")
    process.stdin.close(); print(process.stdout.read().split(), process.args, process.wait())
first = subprocess.Popen(["printf", "x\\ny\\nx\\n"], stdout=subprocess.PIPE)
second = subprocess.Popen(["sort"], stdin=first.stdout, stdout=subprocess.PIPE); first.stdout.close()
print(subprocess.run(["uniq", "-c"], stdin=second.stdout, capture_output=True, text=True).stdout.split(), second.wait(), first.wait())
process = subprocess.Popen(["sleep", "60"], start_new_session=True)
print(os.getpgid(process.pid) == process.pid, os.getsid(process.pid) == process.pid); os.killpg(process.pid, signal.SIGINT); print(process.wait(), process)
process = subprocess.Popen([sys.executable, "-c", "import os, signal, time; signal.signal(15, lambda *_: os.write(1, b'terminating') and exit(3)); print('ready', flush=True); time.sleep(60)"], stdout=subprocess.PIPE, text=True)
print(process.stdout.readline().strip()); process.terminate(); print(process.communicate(), process.returncode)
try:
    subprocess.run("echo partial; sleep 60", shell=True, capture_output=True, timeout=0.5)
except subprocess.TimeoutExpired as error:
    print(error, error.stdout)
read, write = os.pipe(); os.set_inheritable(write, True)
subprocess.run([sys.executable, "-c", f"import os; os.write({write}, b'inherited')"], pass_fds=[write]); print(os.read(read, 100))
print(subprocess.run(["env"], env={"ONLY": "this"}, capture_output=True, text=True).stdout, subprocess.run(["pwd"], cwd="/", capture_output=True).stdout, subprocess.getstatusoutput("echo hi; exit 3"))
print(subprocess.run([sys.executable, "-c", "import os; print(os.umask(0))"], umask=0o27, capture_output=True, text=True).stdout, subprocess.list2cmdline(["a b", "c"]))
subprocess.run(["false"], check=True)
