import signal, subprocess
try:
    subprocess.run(["sleep", "30"], timeout=0.1)
except subprocess.TimeoutExpired as error:
    print(error.cmd)
process = subprocess.Popen(["sleep", "30"])
process.send_signal(signal.SIGTERM)
print(process.wait(), process.poll())
process = subprocess.Popen(["sleep", "30"]); process.kill(); print(process.wait())
print(subprocess.run("kill -9 $$", shell=True).returncode, subprocess.run("exit 300", shell=True).returncode)
