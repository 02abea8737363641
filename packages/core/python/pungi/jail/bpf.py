"""Compiles answers to system calls into a classic BPF program for seccomp.

A binary search finds the number; a call whose arguments matter then goes through a separate block. The kernel
remembers which numbers are allowed whatever their arguments are, and does not run the program for them.
"""

import struct

from . import call_arguments

ALLOW, ASK, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x7FC00000, 0x80000000, 0x00050000
_LOAD, _JUMP, _JUMP_EQUAL, _JUMP_AT_LEAST, _AND, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x54, 0x06
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_FARTHEST = 255


def compile_filter(machine, answers, otherwise):
    """`answers`: number to an errno, or to the rules for its arguments (none: allowed). `otherwise`: the answer to all others.

    Returns the code and the number of instructions."""
    blocks = {number: _block(rules) for number, rules in answers.items() if not isinstance(rules, int) and rules}
    program = [
        (_LOAD, _ARCHITECTURE, 0, 0),
        (_JUMP_EQUAL, _AUDIT_ARCH[machine], 1, 0),
        (_RETURN, KILL_PROCESS, 0, 0),
        (_LOAD, _NUMBER, 0, 0),
        *_search(_ranges(answers, otherwise)),
    ]
    starts = {}
    for number, block in blocks.items():
        starts[number] = len(program)
        program += block
    resolved = [_resolve(at, instruction, starts) for at, instruction in enumerate(program)]
    return b"".join(struct.pack("HBBI", code, yes, no, value) for code, value, yes, no in resolved), len(resolved)


class _Block:
    """A jump to the rules of a number, whose position is known at the end."""

    def __init__(self, number):
        self.number = number


def _resolve(at, instruction, starts):
    code, value, yes, no = instruction
    return (code, starts[value.number] - at - 1, yes, no) if isinstance(value, _Block) else instruction


def _ranges(answers, otherwise):
    """[(first number, action)]; neighbours with the same answer are merged."""
    ranges = []
    for number in sorted({0, *answers, *(known + 1 for known in answers)}):
        leaf = _leaf(number, answers.get(number, otherwise))
        if not ranges or ranges[-1][1] != leaf:
            ranges.append((number, leaf))
    return ranges


def _leaf(number, answer):
    if isinstance(answer, int):
        return (_RETURN, answer if answer in (ALLOW, ASK) else ERRNO | answer, 0, 0)
    return (_JUMP, _Block(number), 0, 0) if answer else (_RETURN, ALLOW, 0, 0)


def _search(ranges):
    if len(ranges) == 1:
        return [ranges[0][1]]
    middle = len(ranges) // 2
    below, above = _search(ranges[:middle]), _search(ranges[middle:])
    first = ranges[middle][0]
    if len(below) <= _FARTHEST:
        return [(_JUMP_AT_LEAST, first, len(below), 0), *below, *above]
    return [(_JUMP_AT_LEAST, first, 0, 1), (_JUMP, len(below), 0, 0), *below, *above]


def _block(rules):
    code = [instruction for rule in rules for instruction in _rule(rule)]
    return [*code, (_RETURN, ALLOW, 0, 0)]


def _rule(rule):
    """Continues after its end if the rule is met, and answers if it is not."""
    load = (_LOAD, _ARGUMENTS + 8 * rule.argument, 0, 0)
    if isinstance(rule, call_arguments.Unless):
        return [load, *(i for value in rule.values for i in ((_JUMP_EQUAL, value, 0, 1), (_RETURN, ERRNO | rule.error, 0, 0)))]
    if isinstance(rule, call_arguments.Either):
        parts = [(value, [i for inner in rules for i in _rule(inner)]) for value, rules in rule.rules.items()]
        code = [(_RETURN, ERRNO | rule.error, 0, 0)]
        for value, part in reversed(parts):
            # After its own part, it skips the parts of other values.
            code = [(_JUMP_EQUAL, value, 0, len(part) + 1), *part, (_JUMP, len(code), 0, 0), *code]
        return [load, *code]
    answers = [i for value, error in rule.answers.items() for i in ((_JUMP_EQUAL, value, 0, 1), (_RETURN, ERRNO | error, 0, 0))]
    refusal = [*answers, (_RETURN, ERRNO | rule.error, 0, 0)]
    mask = [(_AND, rule.mask, 0, 0)] if rule.mask != 0xFFFFFFFF else []
    tests = [
        (_JUMP_EQUAL, value, len(rule.values) - at - 1 + len(refusal), 0) for at, value in enumerate(rule.values)
    ]
    return [load, *mask, *tests, *refusal]
