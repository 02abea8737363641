"""Stands in for a package like pandas: uses os and files itself, and calls what it is given."""

import os  # noqa: F401

from . import reading  # noqa: F401
from .reading import call, evaluate, load, read, run, store  # noqa: F401
