"""Calls a function of a script with JSON arguments, and describes what it returned.

arguments.py validates the arguments against a JSON Schema, convert.py converts them to the function's type hints, call.py calls
it, and results.py describes the result; the other modules are parts of these. They import nothing else of Pungi, and no two of
them define the same name, because a standalone folder holds all of them in one file.
"""
