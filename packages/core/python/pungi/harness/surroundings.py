"""Sets up what a script finds besides its variables: a module `pungi`, modules in its folder, and its context as a file, on
standard input and in environment variables."""

import contextlib
import io
import os
import sys
import types
from json import dumps

from .shown import cut

_CONTEXT_FILE = "mcp_context.json"
_LONGEST_VARIABLE = 8000
_HIDDEN = (
    'the module "pungi" next to the script is used instead of the helper of that name; '
    "context, session, get, expect, fail and log are there without an import"
)


@contextlib.contextmanager
def surroundings(job, toolbox):
    before, folder = list(sys.path), os.getcwd()
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    if job.get("expose"):  # not in the fork server, which uses these itself
        try:
            _expose(toolbox.context)
        except OSError as error:
            toolbox.log("warning", f"the context is not on standard input and not in a file: {error}")
    own = _put_helper(toolbox, folder)
    try:
        yield
    finally:
        sys.modules.pop("pungi", None)
        if own is not None:
            sys.modules["pungi"] = own
        sys.path[:] = before


def _put_helper(toolbox, folder):
    """Lets the script import `pungi`: the helper, or a module of that name in the script's folder."""
    own = sys.modules.pop("pungi", None)  # the fork server runs a sample now; later the module is hidden
    if any(os.path.exists(os.path.join(folder, name)) for name in ("pungi.py", "pungi")):
        toolbox.log("warning", _HIDDEN)
        sys.modules.pop("pungi.harness", None)  # it could stand in for a module of the script's own package
    else:
        helper = sys.modules["pungi"] = types.ModuleType("pungi", "What a validation script is given.")
        helper.__dict__.update(toolbox.names())
    return own


def _expose(context):
    path = os.path.join(os.environ.get("TMPDIR", os.getcwd()), _CONTEXT_FILE)
    with open(path, "w", encoding="utf-8") as file:
        file.write(dumps(context))
    os.environ.update(_variables(context["metadata"]) | {"MCP_CONTEXT_FILE": path})
    source = os.open(path, os.O_RDONLY)
    os.dup2(source, 0, inheritable=True)
    os.close(source)
    sys.stdin = sys.__stdin__ = io.open(0, "r", encoding="utf-8", closefd=False)


def _variables(metadata):
    if type(metadata) is not dict:
        return {}
    server = metadata.get("server_info")
    server = server if type(server) is dict else {}
    given = {
        "MCP_TEST_NAME": metadata.get("test_name"),
        "MCP_TEST_ID": metadata.get("test_id"),
        "MCP_TOOL_NAME": metadata.get("tool_name"),
        "MCP_PHASE": metadata.get("phase"),
        "MCP_SERVER_NAME": server.get("name"),
        "MCP_SERVER_VERSION": server.get("version"),
    }
    return {name: _as_variable(value) for name, value in given.items() if type(value) is str}


def _as_variable(text):
    """Replaces what no variable can hold: NUL and lone surrogates."""
    return cut(text, _LONGEST_VARIABLE).replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
