"""Runs code with no Python frame below it, as the interpreter runs the file that it is given."""


class OnEmptyStack(SystemExit):
    """Raised, it unwinds the stack of the process; then its steps run, one after the other, on the empty stack.

    The interpreter handles a SystemExit that nobody caught by reading its attribute `code`. Here that makes a list of this
    exception, and every item of the list is the result of a step. All of this is C code, none of which counts against the
    recursion limit. Nothing on the way out may catch the exception, or undo what the steps need.
    """

    code = property(list)

    def __init__(self, steps):
        """`steps`: an iterator of functions. A generator prepares each step, and is suspended while the step runs."""
        super().__init__()
        self._steps = steps

    def __iter__(self):
        return self

    @property
    def __next__(self):
        return next(self._steps)
