"""Finds what a script offers: its functions, its command line, and its requirements.

`read` uses the syntax tree alone and runs nothing. `inspect` examines the loaded script.
"""

from ..scope.scope_reading import deep_recursion
from . import command_lines, functions, imports, inline_metadata, named_files, top_level, unloaded
from .module import Module
from .remarks import remark


def discover(job):
    """Describes a script without loading it. Raises the error of the compiler."""
    module = module_of(job)
    with deep_recursion():
        return _complete(module, *_unloaded(module, name_of(job, module)))


def module_of(job):
    return Module(job["code"], job["filename"], job.get("package") or "")


def name_of(job, module):
    """Returns the name for the tool of the command line."""
    return job.get("toolName") or module.stem


def is_loaded(module):
    """Whether the script is loaded: it defines functions, is a package, or does nothing at its top level."""
    return bool(module.definitions()) or module.is_package or not top_level.has_side_effects(module.tree)


def inspect(job, module, path, scope, error, run_main):
    """`scope`: the variables of the loaded script, None where it was not loaded; `error`: what loading it raised, described;
    `run_main()`: runs it as __main__."""
    name = name_of(job, module)
    found, remarks = [], []
    if scope is not None and error is None:
        module.resolve_checked_imports(scope)
        found, remarks = functions.find(module, scope)
    loaded = scope if error is None else None
    line = command_lines.find(module, name, {tool["function"] for tool in found}, loaded, run_main, path, bool(remarks))
    tools = [tool for tool in found if tool["function"] not in line.functions]
    remarks = [each for each in remarks if each["name"].partition("(")[0] not in line.callbacks]
    problem = problem_of(module, error) if error is not None else None
    lost = [node.name for node in module.definitions() if not node.name.startswith("_")] if problem else ()
    if listed := ", ".join(dict.fromkeys(each for each in lost if each not in line.functions))[:300]:
        reason = f"{problem} So these are no tools: {listed}"
        remarks.append(remark(error["line"] or 1, module.filename, reason, is_skipped=True))
    return _complete(module, tools, line.tools, [*remarks, *line.remarks], line.problem or (None if line.tools else problem))


def _unloaded(module, name):
    tools = unloaded.find(module)
    acts = top_level.has_main_guard(module.tree) or top_level.has_side_effects(module.tree)
    scripts = [command_lines.plain_tool(module, name, {tool["function"] for tool in tools})] if acts else []
    return tools, scripts, command_lines.other_libraries(module) if acts else []


def problem_of(module, error):
    message = error["message"].partition("\n")[0][:300]
    place = f" (line {error['line']})" if error["line"] else ""
    return f"{module.filename} cannot be loaded{place}: {error['type']}{f': {message}' if message else ''}."


def _complete(module, tools, scripts, remarks, problem=None):
    dependencies, requires_python, doubts = inline_metadata.read(module.source)
    return {
        "description": module.description,
        "functions": tools,
        "scripts": scripts,
        "remarks": sorted([*remarks, *doubts], key=lambda each: each["line"]),
        "problem": problem,
        "needsLoading": is_loaded(module) or command_lines.is_read(module),
        "dependencies": dependencies,
        "requiresPython": requires_python,
        "imports": imports.foreign_imports(module.tree),
        "firstImports": imports.first_imports(module.tree),
        "namedFiles": named_files.named_files(module.tree),
        "hasMainGuard": top_level.has_main_guard(module.tree),
        "hasSideEffects": top_level.has_side_effects(module.tree),
    }
