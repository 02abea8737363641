import subprocess
grep = subprocess.Popen(["grep", "b"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(grep.communicate("abc\nxyz\nbbb\n"))
first = subprocess.Popen(["printf", "c\\na\\nb\\n"], stdout=subprocess.PIPE)
second = subprocess.Popen(["sort"], stdin=first.stdout, stdout=subprocess.PIPE)
first.stdout.close()
print(second.communicate()[0], first.wait(), second.returncode)
with subprocess.Popen(["cat"], stdin=-1, stdout=-1, bufsize=1, text=True) as cat:
    cat.stdin.write("line\n"); cat.stdin.flush(); print(cat.stdout.readline(), end="")
