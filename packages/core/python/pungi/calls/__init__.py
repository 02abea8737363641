"""Calls a function of a script with arguments that came as JSON, and says what it gave back.

arguments.py holds them against a JSON Schema, convert.py makes of them what the function's type hints ask for, results.py tells
what it gave back, call.py does the rest; the others are parts of these. They import nothing else of Pungi, and no two of them
use the same name, because a wrapped script's folder carries them, one after the other, in one file.
"""
