"""The standalone MCP server that is written next to a wrapped script. Its modules, and those of pungi/calls, become one file,
wrapper.py: one namespace, so they import each other only by `from .name import a, b`, and every top-level name is unique."""

import os

# Before bundling, the modules of pungi/calls are siblings of these, as they are in the one file.
__path__.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pungi", "calls"))
