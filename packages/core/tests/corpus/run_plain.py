"""Runs scripts as `python main.py` does, each in a fresh folder and with its output captured by pipes. Node's pipes are sockets.

stdin: {"environment": FOLDER, "atOnce": NUMBER, "snippets": [...]}; stdout: a list of endings.
"""

import concurrent.futures
import json
import os
import pwd
import signal
import subprocess
import sys
import tempfile


def run(environment, snippet):
    with tempfile.TemporaryDirectory(prefix="plain-", ignore_cleanup_errors=True) as folder:
        work, temporary = os.path.join(folder, "work"), os.path.join(folder, "tmp")
        for path in (work, temporary):
            os.mkdir(path, 0o700)
        for path, text in {**snippet["files"], "main.py": snippet["code"]}.items():
            place(os.path.join(work, path), text)
        stdin = {"input": snippet["stdin"].encode()} if snippet["stdin"] else {"stdin": subprocess.DEVNULL}
        ended = subprocess.run(
            ["python", "main.py", *snippet["argv"]],
            cwd=work,
            env={**variables(environment, work, temporary), **snippet["env"]},
            capture_output=True,
            **stdin,
        )
        status = signal.Signals(-ended.returncode).name if ended.returncode < 0 else str(ended.returncode)
        return {"stdout": shown(ended.stdout, folder), "stderr": shown(ended.stderr, folder), "status": status}


def place(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def variables(environment, work, temporary):
    """Those of an ordinary user who has activated the environment."""
    user = pwd.getpwuid(os.getuid()).pw_name
    return {
        "PATH": f"{environment}/bin:/usr/local/bin:/usr/bin:/bin",
        "VIRTUAL_ENV": environment,
        "HOME": work,
        "PWD": work,
        "TMPDIR": temporary,
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }


def shown(output, folder):
    return output.decode("utf-8", "replace").replace(folder, "")


def main():
    task = json.load(sys.stdin)
    with concurrent.futures.ThreadPoolExecutor(task["atOnce"]) as pool:
        json.dump(list(pool.map(lambda snippet: run(task["environment"], snippet), task["snippets"])), sys.stdout)


main()
