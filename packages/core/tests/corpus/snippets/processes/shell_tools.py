import subprocess
for command in ("printf 'b\\na\\n' | sort | head -1", "seq 3 | awk '{s+=$1} END {print s}'", "echo abc | sed s/b/X/ | wc -c",
                "find . -name '*.py'", "expr 2 + 3", "ls /nonexistent", "test -d /tmp && echo yes", "cat < main.py | grep -c subprocess"):
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    print(command, "->", result.stdout.strip(), result.returncode)
