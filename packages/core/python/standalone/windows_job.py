"""Job objects of Windows: limit the memory of a call's processes and end them together. `kernel32` is a parameter, so that the
calls can be tested on other systems."""

JOB_LIMIT_PROCESS_MEMORY = 0x0100
JOB_LIMIT_JOB_MEMORY = 0x0200
JOB_LIMIT_DIE_ON_UNHANDLED_EXCEPTION = 0x0400
JOB_LIMIT_KILL_ON_JOB_CLOSE = 0x2000
EXTENDED_LIMIT_INFORMATION = 9
# Without a window, and without the console's Ctrl+C.
CREATION_FLAGS = 0x08000000 | 0x00000200
_ENDED_STATUS = 1


class JobFault(OSError):
    """Windows refused the call."""


def limit_information(memory_bytes):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION: all processes together, and all of them ended when the wrapper is gone."""
    import ctypes

    class BasicLimits(ctypes.Structure):
        _fields_ = [
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", ctypes.c_uint32),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", ctypes.c_uint32),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", ctypes.c_uint32),
            ("SchedulingClass", ctypes.c_uint32),
        ]

    class IoCounters(ctypes.Structure):
        _fields_ = [
            (name, ctypes.c_uint64)
            for name in ("ReadOperations", "WriteOperations", "OtherOperations", "ReadBytes", "WriteBytes", "OtherBytes")
        ]

    class ExtendedLimits(ctypes.Structure):
        _fields_ = [
            ("BasicLimitInformation", BasicLimits),
            ("IoInfo", IoCounters),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        ]

    found = ExtendedLimits()
    found.BasicLimitInformation.LimitFlags = (
        JOB_LIMIT_JOB_MEMORY | JOB_LIMIT_KILL_ON_JOB_CLOSE | JOB_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
    )
    found.JobMemoryLimit = memory_bytes
    return found


def make_job(kernel32, memory_bytes):
    """The handle of a job with its limits."""
    job = kernel32.CreateJobObjectW(None, None)
    if not job:
        raise JobFault("CreateJobObjectW refused")
    try:
        limit_job(kernel32, job, memory_bytes)
    except BaseException:
        kernel32.CloseHandle(job)
        raise
    return job


def limit_job(kernel32, job, memory_bytes):
    import ctypes

    information = limit_information(memory_bytes)
    done = kernel32.SetInformationJobObject(
        job, EXTENDED_LIMIT_INFORMATION, ctypes.byref(information), ctypes.sizeof(information)
    )
    if not done:
        raise JobFault("SetInformationJobObject refused")


def put_in_job(kernel32, job, process_handle):
    """Before the process gets any work: what it starts later is then in the job, too."""
    if not kernel32.AssignProcessToJobObject(job, process_handle):
        raise JobFault("AssignProcessToJobObject refused")


def end_job(kernel32, job):
    kernel32.TerminateJobObject(job, _ENDED_STATUS)


def close_job(kernel32, job):
    """Ends all processes in it, since no other process holds it."""
    kernel32.CloseHandle(job)


def load_kernel32():
    """The real kernel32, with the widths of its arguments: a handle is a pointer, which ctypes would cut to an int."""
    import ctypes

    return declare_calls(ctypes.WinDLL("kernel32", use_last_error=True))


def declare_calls(kernel32):
    import ctypes

    handle, number, pointer = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p
    for name, result, arguments in (
        ("CreateJobObjectW", handle, (pointer, ctypes.c_wchar_p)),
        ("SetInformationJobObject", ctypes.c_int, (handle, ctypes.c_int, pointer, number)),
        ("AssignProcessToJobObject", ctypes.c_int, (handle, handle)),
        ("TerminateJobObject", ctypes.c_int, (handle, number)),
        ("CloseHandle", ctypes.c_int, (handle,)),
    ):
        call = getattr(kernel32, name)
        call.restype, call.argtypes = result, list(arguments)
    return kernel32
