import subprocess, sys, urllib.request, re
process = subprocess.Popen([sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
port = int(re.search(r"port (\d+)", process.stdout.readline()).group(1))
print(urllib.request.urlopen(f"http://127.0.0.1:{port}/main.py").read()[:6])
process.terminate(); print(process.wait())
