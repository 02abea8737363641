"""Runs snippets as a worker does, each in a process and a folder of its own. JSON lines in, JSON lines out.

Started with -I -S like the fork server; the first line says where the code is and what to load before the first fork.
"""

import json
import linecache
import os
import shutil
import site
import sys
import tempfile
import types


def main():
    setup = json.loads(sys.stdin.readline())
    site.main()
    sys.path[:0] = setup["path"]
    for name in setup["preload"]:
        __import__(name)
    from pungi.scope import scope, scope_guard, optional_imports  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(run_apart(json.loads(line))), flush=True)


def run_apart(snippet):
    folder = os.path.realpath(tempfile.mkdtemp())
    for name, text in snippet["files"].items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    source, sink = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.close(source)
            os.chdir(folder)
            sys.stdin = open(os.devnull)  # the jobs are not the snippet's input
            os.dup2(sys.stdin.fileno(), 0)
            run(snippet, lambda answer: finish(sink, answer))
        finally:
            os._exit(9)
    os.close(sink)
    with os.fdopen(source) as answers:
        answer = answers.read()
    os.waitpid(child, 0)
    shutil.rmtree(folder)
    return json.loads(answer) if answer else {"static": [], "run": None, "exception": "died", "output": ""}


def finish(sink, answer):
    sys.stdout.flush()
    os.lseek(1, 0, os.SEEK_SET)
    answer["output"] = os.read(1, 1 << 20).decode("utf-8", "replace")
    os.write(sink, json.dumps(answer).encode())
    os._exit(0)


def run(snippet, answer):
    from pungi.scope import scope, scope_guard, optional_imports

    output = tempfile.TemporaryFile()
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    filename, source, rules = "main.py", snippet["code"], snippet["rules"]
    found, paths = scope.examine(source, filename, rules)
    if found and not snippet["goOn"]:
        answer({"static": found, "run": None, "exception": None})
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.path.insert(0, os.getcwd())
    for name in rules.get("defaultImports", ()):
        vars(module)[name] = __import__(name)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    refused = lambda record: answer({"static": found, "run": record, "exception": None})  # noqa: E731
    error = None
    try:
        code = compile(source, filename, "exec", dont_inherit=True)
        scope_guard.install(rules, filename, vars(module), paths, refused, optional_imports.lines_of(source, filename))
        exec(code, vars(module))
    except BaseException as raised:
        error = f"{type(raised).__name__}: {raised}"
    answer({"static": found, "run": None, "exception": error})


main()
