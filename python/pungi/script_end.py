"""What an interpreter does on its way out."""

import atexit
import sys
import threading

from .calls.endings import exit_status, flush_streams


def leave(status):
    """Waits for threads, runs atexit handlers, flushes. Gives the exit status."""
    try:
        threading._shutdown()
        atexit._run_exitfuncs()
    except SystemExit as error:
        status = exit_status(error)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    return flush_streams(status)
