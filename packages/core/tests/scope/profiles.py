"""The rules that the snippets are held against, and the files that lie beside them."""

FILES = {"data.csv": "a,b\n1,2\n3,4\n", "neighbour.py": "import socket\n", "bad.pkl": "cos\nsystem\n(S'true'\ntR."}

_STRATEGIC = {
    "profile": "strategic",
    "allowedImports": ["pandas", "numpy", "json", "datetime", "math", "statistics", "collections"],
    "blockedImports": ["os", "sys", "subprocess", "socket", "urllib", "requests", "shutil"],
    "blockedBuiltins": ["open", "exec", "eval", "compile", "__import__", "globals", "locals", "input", "breakpoint", "file"],
    "blockedOperations": ["file", "process", "network"],
}
_OPEN = {"profile": "open", "allowedImports": None, "blockedImports": [], "blockedBuiltins": [], "blockedOperations": []}
_WITH_FRAMES = [*_STRATEGIC["allowedImports"], "frames"]


def _made(base, name, **changes):
    return base | {"profile": name} | changes


PROFILES = {
    "strategic": _STRATEGIC,
    "strategic-not-loaded": _STRATEGIC,
    "strategic-with-pandas": _made(_STRATEGIC, "strategic-with-pandas", defaultImports=["pandas", "numpy"]),
    "stand-in": _made(_STRATEGIC, "stand-in", allowedImports=_WITH_FRAMES),
    "text-running": _made(_STRATEGIC, "text-running", allowedImports=[*_WITH_FRAMES, "base64", "ast"], blockedBuiltins=["open"]),
    "eval-only": _made(_STRATEGIC, "eval-only", blockedBuiltins=["open", "exec"]),
    "os-path": _made(_STRATEGIC, "os-path", allowedImports=["os.path"]),
    "no-parts": _made(_STRATEGIC, "no-parts", blockedImports=["json.tool"]),
    "open": _OPEN,
    "open-traceback": _made(_STRATEGIC, "open-traceback", allowedImports=[*_WITH_FRAMES, "traceback"]),
    "no-builtins": _made(_OPEN, "no-builtins", blockedBuiltins=_STRATEGIC["blockedBuiltins"]),
    "no-debugger": _made(_OPEN, "no-debugger", blockedImports=["pdb"]),
    "no-system": _made(_OPEN, "no-system", blockedImports=["os"]),
    "no-network": _made(_OPEN, "no-network", blockedImports=["socket", "urllib", "requests", "http"], blockedOperations=["network"]),
    "no-network-events": _made(_OPEN, "no-network-events", blockedOperations=["network"]),
    "no-files": _made(_OPEN, "no-files", blockedOperations=["file"]),
    "no-files-stand-in": _made(_OPEN, "no-files-stand-in", blockedOperations=["file"]),
    "no-processes": _made(_OPEN, "no-processes", blockedOperations=["process"]),
    "no-processes-stand-in": _made(_OPEN, "no-processes-stand-in", blockedOperations=["process"]),
    "no-operations": _made(_OPEN, "no-operations", blockedOperations=["file", "process", "network"]),
}
