"""Judges expressions and reports those that do not hold."""

import ast

from .compiling import expression_source
from .dotted import dotted
from .explain import explain_condition
from .shown import cut
from .toolbox import Toolbox


def judge_expressions(job):
    """Judges each expression separately: one that fails does not hide the others."""
    toolbox = Toolbox(job["context"], "<expression>")
    seen = dotted(toolbox.context)
    scope = {**seen.get("variables", {}), **seen, "context": seen, "get": toolbox.get}
    for text in job["expressions"]:
        _judge_expression(text, scope, toolbox)
    return {"failures": toolbox.reported_failures()}


def _judge_expression(text, scope, toolbox):
    text, source = text.strip(), expression_source(text)
    try:
        tree = ast.parse(source, "<expression>", "eval")
        if eval(compile(tree, "<expression>", "eval"), {**scope}):
            return
        sentence, sides = explain_condition(tree.body, source, scope)
        toolbox.add(sentence, **sides)
    except MemoryError:
        raise
    except SyntaxError as error:
        toolbox.add(f"`{cut(text, 500)}` is no Python expression: {error.msg}")
    except BaseException as error:
        toolbox.add(f"`{cut(text, 500)}` cannot be evaluated: {type(error).__name__}: {cut(str(error), 1000)}")
