"""Resolves paths through modules, such as pandas.io.common.os: the dotted path of an expression, and whether it is in
scope.
"""

import ast
import importlib.machinery
import sys
import types

from .scope_constants import fold_text

# Names that only the module has. copy, random or select may be a package's own function: if the package is not loaded
# yet, the guard checks them, which sees the objects.
_UNMISTAKABLE = {
    "os", "sys", "posix", "subprocess", "socket", "shutil", "urllib", "requests", "httpx", "builtins", "importlib", "ctypes",
    "pathlib", "multiprocessing", "pickle", "tempfile", "codecs", "inspect", "gc", "linecache", "runpy", "pkgutil",
}
_OPERATIONS = {
    "file": {"io.open", "io.open_code", "io.FileIO", "_io.open", "_io.FileIO", "codecs.open", "os.open", "os.fdopen",
             "os.listdir", "os.scandir", "os.remove", "os.unlink", "os.rename", "os.mkdir", "os.makedirs", "tokenize.open"},
    "process": {"os.system", "os.popen", "os.fork", "os.execv", "os.execve", "os.execl", "os.execvp", "os.posix_spawn",
                "os.spawnl", "os.spawnv", "pty.spawn", "subprocess.run", "subprocess.Popen", "subprocess.call",
                "subprocess.check_output", "subprocess.check_call", "subprocess.getoutput", "asyncio.create_subprocess_exec",
                "asyncio.create_subprocess_shell"},
    "network": {"socket.create_connection", "urllib.request.urlopen", "urllib.request.urlretrieve", "requests.get",
                "requests.post", "httpx.get", "httpx.post", "http.client.HTTPConnection", "http.client.HTTPSConnection"},
}


class MemberCheck:
    def __init__(self, modules, values, known, rules):
        self.paths = []  # (line, column offset, path), for the guard
        self._modules = modules
        self._values = values
        self._known = known
        self._rules = rules

    def take_names(self, outer):
        """Lets a nested code string use the names of the enclosing script."""
        self._modules = outer._modules | self._modules
        self._values = outer._values | self._values

    def path_of(self, node, depth=0):
        """Returns the dotted path that an expression certainly refers to, or None."""
        if depth > 50:
            return None
        if isinstance(node, ast.Name):
            return self._path_of_name(node, depth)
        if isinstance(node, ast.NamedExpr):
            return self.path_of(node.value, depth + 1)
        if isinstance(node, ast.Attribute):
            return _join(self.path_of(node.value, depth + 1), node.attr)
        if isinstance(node, ast.Subscript):
            return self._member(node.value, node.slice, depth)
        return self._path_of_call(node, depth) if isinstance(node, ast.Call) else None

    def _path_of_name(self, node, depth):
        if node.id == "__builtins__":
            return "builtins"
        if node.id in self._modules:
            return self._modules[node.id]
        value = self._values.get(node.id)
        return None if value is None else self.path_of(value, depth + 10)

    def _member(self, container, key, depth):
        """Resolves sys.modules["x"], module.__dict__["x"], vars(module)["x"], __builtins__["x"]."""
        name = fold_text(key, self._known)
        if name is None:
            return None
        path = self.path_of(container, depth + 1)
        if path == "sys.modules":
            return name
        if path == "builtins" and isinstance(container, ast.Name):
            return f"builtins.{name}"
        if path and path.endswith(".__dict__"):
            return _join(path[: -len(".__dict__")], name)
        return None

    def _path_of_call(self, node, depth):
        function = node.func
        text = fold_text(node.args[-1], self._known) if node.args else None
        if isinstance(function, ast.Name) and function.id == "getattr" and len(node.args) >= 2:
            return _join(self.path_of(node.args[0], depth + 1), fold_text(node.args[1], self._known))
        if isinstance(function, ast.Name) and function.id == "vars" and len(node.args) == 1:
            return _join(self.path_of(node.args[0], depth + 1), "__dict__")
        if isinstance(function, ast.Name) and function.id == "__import__" and text:
            return text.partition(".")[0]
        path = self.path_of(function, depth + 1) if isinstance(function, ast.Attribute) else None
        if path == "importlib.import_module" and text:
            return text
        if path in ("sys.modules.get", "sys.modules.pop", "sys.modules.__getitem__") and node.args:
            return fold_text(node.args[0], self._known)
        return None

    def judge(self, node, path):
        """Returns (rule, what, message) of the first step of the path that leaves the scope, or None."""
        parts = path.split(".")
        if parts[0] == "builtins":
            return self._judge_builtin(parts)
        if refusal := self._judge_operation(path):
            return refusal
        # An import statement is checked where it is; sys.modules["os"] is not.
        if isinstance(node, (ast.Subscript, ast.Call)) and (reason := self._rules.refuses_import(parts[0])):
            return "import", parts[0], reason
        if len(parts) > 1:
            self.paths.append((node.lineno, node.col_offset, path))
        return judge_loaded(parts, self._rules) or self._judge_names(parts)

    def _judge_builtin(self, parts):
        if len(parts) > 1 and (reason := self._rules.refuses_builtin(parts[1])):
            return "builtin", parts[1], reason
        return None

    def _judge_operation(self, path):
        for kind, functions in _OPERATIONS.items():
            if path in functions and not self._rules.refuses_import(path.partition(".")[0]):
                if reason := self._rules.refuses_operation(kind, path):
                    return "operation", kind, reason
        return None

    def _judge_names(self, parts):
        root_is_allowed = self._rules.refuses_import(parts[0]) is None
        for end in range(2, len(parts) + 1):
            path, name = ".".join(parts[:end]), parts[end - 1]
            if name == "__dict__" and root_is_allowed and self._rules.forbids_introspection:
                return "introspection", name, self._rules.describe_introspection(name)
            if not root_is_allowed:
                continue
            bare = name.lstrip("_")
            if bare not in _UNMISTAKABLE or _is_part_on_disk(path):
                continue
            if reason := self._rules.refuses_import(bare):
                return "import", bare, reason
        # `import os.path` binds all of os, even if only os.path is allowed.
        if not root_is_allowed and self._rules.allowed is not None and len(parts) > 1:
            return self._judge_partly_allowed(parts)
        return None

    def _judge_partly_allowed(self, parts):
        has_allowed_part = any(entry.startswith(f"{parts[0]}.") for entry in self._rules.allowed)
        reason = self._rules.refuses_import(".".join(parts)) if has_allowed_part else None
        is_on_the_way = any(entry.startswith(".".join(parts)) for entry in self._rules.allowed)
        return ("import", ".".join(parts), reason) if reason and not is_on_the_way else None


def judge_loaded(parts, rules):
    """Follows the path through loaded modules without running their code, and checks each step."""
    value = sys.modules.get(parts[0])
    if rules.refuses_import(parts[0]):
        return None
    for name in parts[1:]:
        if not isinstance(value, types.ModuleType):
            return None
        value = vars(value).get(name)
        if isinstance(value, types.ModuleType) and (refusal := judge_module(value, rules)):
            return refusal
    return None


def judge_module(module, rules):
    """Checks a module by its name and by the name that it was loaded by, which differ for collections.abc."""
    names = [vars(module).get("__name__"), getattr(vars(module).get("__spec__"), "name", None)]
    names = [name for name in names if isinstance(name, str) and name != "__main__"]
    reasons = [rules.refuses_import(name) for name in names]
    return ("import", names[0], reasons[0]) if names and all(reasons) else None


def _is_part_on_disk(path):
    """Whether the package has a submodule of this name (numpy.random). Reads folders, loads nothing."""
    folders, name = None, ""
    try:
        for part in path.split("."):
            name = f"{name}.{part}" if name else part
            spec = importlib.machinery.PathFinder.find_spec(name, folders)
            if spec is None:
                return False
            folders = spec.submodule_search_locations
            if folders is None:
                return name == path
        return True
    except (ImportError, OSError, ValueError, AttributeError):
        return False


def _join(path, name):
    return f"{path}.{name}" if path and name else None
