"""Compiles scripts and keeps them as bytecode."""

import ast
import base64
import linecache
import marshal
import sys

from .problems import describe_error

_TAG = f"{sys.implementation.cache_tag}-{sys.hexversion:x}"
_MOST_BYTECODE = 500_000


def compile_only(job):
    show_lines(job["filename"], job["source"])
    try:
        if job.get("isExpression"):
            compile(expression_source(job["source"]), job["filename"], "eval", dont_inherit=True)
            return {}
        code = compile_script(job["source"], job["filename"], job.get("function"))
    except (SyntaxError, ValueError, RecursionError) as error:
        return {"error": describe_error(error, job, "syntax")}
    data = marshal.dumps(code)
    # Larger bytecode costs more to transfer than to compile again.
    return {"bytecode": base64.b64encode(data).decode(), "tag": _TAG} if len(data) <= _MOST_BYTECODE else {"bytecode": "", "tag": ""}


def expression_source(text):
    """Compiles an expression; one of several lines needs no brackets around it."""
    text = text.strip()
    return f"({text}\n)" if "\n" in text else text


def show_lines(filename, source):
    """Shows the source to tracebacks. Lines are counted as the compiler counts them, each with its end."""
    lines = [f"{line}\n" for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    linecache.cache[filename] = (len(source), None, lines, filename)


class BytecodeError(Exception):
    """The bytecode of a script is not the one that compile_only returned."""


def load_script(job):
    if job.get("tag") == _TAG:
        return _load_bytecode(job["bytecode"])
    return compile_script(job["source"], job["filename"], job.get("function"))


def _load_bytecode(text):
    try:
        body, last = marshal.loads(base64.b64decode(text))
    except (ValueError, TypeError, EOFError) as error:
        raise BytecodeError from error
    if type(body) is not type(_load_bytecode.__code__) or type(last) not in (type(None), type(body)):
        raise BytecodeError
    return body, last


def compile_script(source, filename, function=None):
    """Returns two code objects: the script, and the code of its result: its last expression, or all of it where it has a `return`."""
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    last = None
    if function is None and any(map(_returns, tree.body)):
        tree, last = _as_function(tree)
    elif function is None and tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    return compile(tree, filename, "exec", dont_inherit=True), last and compile(last, filename, "eval", dont_inherit=True)


def _returns(node):
    """Whether there is a `return` outside all functions."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    return isinstance(node, ast.Return) or any(map(_returns, ast.iter_child_nodes(node)))


def _as_function(tree):
    wrapped = ast.parse("def script(): pass")
    is_future = [isinstance(each, ast.ImportFrom) and each.module == "__future__" for each in tree.body]
    begin = max((index + 1 for index, each in enumerate(is_future) if each), default=0)
    ahead, body = tree.body[:begin], tree.body[begin:]
    if isinstance(body[-1], ast.Expr):
        body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
    wrapped.body[0].body = body
    wrapped.body[:0] = ahead
    return wrapped, ast.parse("script()", mode="eval")
