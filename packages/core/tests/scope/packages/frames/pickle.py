"""A part of the package that has the name of a module that may be blocked."""

VERSION = 1
