"""What a script offers, found by reading it: its functions, its command line, and what it needs. Nothing of it is run."""

from ..scope.scope_reading import deep_recursion
from . import command_lines, functions, imports, inline_metadata, named_files, top_level
from .module import Module


def discover(job):
    """All of it, as the server expects it. Raises what the compiler says of a text that is no Python."""
    module = Module(job["code"], job["filename"])
    with deep_recursion():
        return _describe(module)


def _describe(module):
    found, remarks = functions.find(module)
    line = command_lines.find(module, {tool["function"] for tool in found})
    dependencies, requires_python, doubts = inline_metadata.read(module.source)
    return {
        "description": module.description,
        "functions": [tool for tool in found if tool["function"] not in line.functions],
        "scripts": line.tools,
        "remarks": sorted([*remarks, *line.remarks, *doubts], key=lambda remark: remark["line"]),
        "dependencies": dependencies,
        "requiresPython": requires_python,
        "imports": imports.foreign_imports(module.tree),
        "firstImports": imports.first_imports(module.tree),
        "namedFiles": named_files.named_files(module.tree),
        "hasMainGuard": top_level.has_main_guard(module.tree),
        "hasSideEffects": top_level.has_side_effects(module.tree),
    }
