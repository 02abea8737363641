"""What is asked of Windows, with fakes in the place of its calls and processes: there is no Windows here to ask."""

import ctypes
import io
import os
import types
import unittest

import python_half  # noqa: F401
from standalone import processes, windows_job


class Kernel32:
    """Notes every call in order; what is named in `refuses` fails."""

    def __init__(self, refuses=()):
        self.calls = []
        self._refuses = refuses

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append((name, *arguments))
            return 0 if name in self._refuses else 77

        return call

    def names(self):
        return [name for name, *_ in self.calls]


class Subprocess:
    """Stands for the module: keeps what was started, with a process that ends when it is told to."""

    PIPE = -1

    def __init__(self, kernel32, fails=False):
        self.started = []
        self._kernel32 = kernel32
        self._fails = fails

    def Popen(self, command, **how):  # noqa: N802
        if self._fails:
            raise OSError("no such program")
        self.started.append((command, how))
        self._kernel32.calls.append(("Popen",))
        note = lambda name: lambda *_: self._kernel32.calls.append((name,)) or 3  # noqa: E731
        write = lambda data: self._kernel32.calls.append(("write",)) or len(data)  # noqa: E731
        pipe = types.SimpleNamespace(write=write, close=note("close"))
        return types.SimpleNamespace(
            _handle=55, pid=5, stdin=pipe, stdout=io.BytesIO(), stderr=io.BytesIO(), wait=note("wait"), kill=note("kill"),
            poll=lambda: None,
        )


class Limits(unittest.TestCase):
    def test_the_structure_is_laid_out_as_windows_has_it(self):
        found = windows_job.limit_information(512 << 20)
        self.assertEqual(ctypes.sizeof(found), 144 if ctypes.sizeof(ctypes.c_void_p) == 8 else 112)
        offsets = {name: getattr(type(found), name).offset for name, _ in found._fields_}
        if ctypes.sizeof(ctypes.c_void_p) == 8:
            wanted = {"IoInfo": 64, "ProcessMemoryLimit": 112, "JobMemoryLimit": 120, "PeakJobMemoryUsed": 136}
            self.assertEqual({name: offsets[name] for name in wanted}, wanted)
            self.assertEqual(type(found.BasicLimitInformation).LimitFlags.offset, 16)

    def test_memory_of_all_together_and_an_end_with_the_wrapper(self):
        found = windows_job.limit_information(512 << 20)
        self.assertEqual(found.JobMemoryLimit, 512 << 20)
        self.assertEqual(found.BasicLimitInformation.LimitFlags, 0x0200 | 0x2000 | 0x0400)

    def test_a_job_is_made_with_its_limits(self):
        kernel32 = Kernel32()
        self.assertEqual(windows_job.make_job(kernel32, 1 << 20), 77)
        (made, asked) = kernel32.calls
        self.assertEqual(made, ("CreateJobObjectW", None, None))
        self.assertEqual((asked[0], asked[1], asked[2], asked[4]), ("SetInformationJobObject", 77, 9, 144))
        self.assertEqual(asked[3]._obj.JobMemoryLimit, 1 << 20)

    def test_what_is_refused_is_raised_and_the_job_closed(self):
        with self.assertRaises(windows_job.JobFault):
            windows_job.make_job(Kernel32(["CreateJobObjectW"]), 1)
        kernel32 = Kernel32(["SetInformationJobObject"])
        with self.assertRaises(windows_job.JobFault):
            windows_job.make_job(kernel32, 1)
        self.assertEqual(kernel32.calls[-1], ("CloseHandle", 77))

    def test_handles_are_declared_as_wide_as_pointers(self):
        kernel32 = types.SimpleNamespace(**{
            name: types.SimpleNamespace() for name in (
                "CreateJobObjectW", "SetInformationJobObject", "AssignProcessToJobObject", "TerminateJobObject", "CloseHandle",
            )
        })
        windows_job.declare_calls(kernel32)
        self.assertIs(kernel32.CreateJobObjectW.restype, ctypes.c_void_p)
        self.assertEqual(kernel32.AssignProcessToJobObject.argtypes, [ctypes.c_void_p, ctypes.c_void_p])


class Processes(unittest.TestCase):
    def start(self, kernel32, **how):
        self.subprocess = Subprocess(kernel32, **how)
        return processes.WindowsProcess(["python"], {"A": "1"}, "folder", 64, kernel32, self.subprocess)

    def test_in_its_job_before_it_is_given_anything_to_do(self):
        kernel32 = Kernel32()
        process = self.start(kernel32)
        process.hand_over(b"job\n")
        self.assertEqual(
            kernel32.names(),
            ["CreateJobObjectW", "SetInformationJobObject", "Popen", "AssignProcessToJobObject", "write"],
        )
        self.assertEqual(kernel32.calls[3], ("AssignProcessToJobObject", 77, 55))
        command, how = self.subprocess.started[0]
        self.assertEqual((command, how["env"], how["cwd"]), (["python"], {"A": "1"}, "folder"))
        self.assertEqual(how["creationflags"], 0x08000000 | 0x200)
        self.assertNotIn("start_new_session", how)

    def test_ended_as_a_whole(self):
        kernel32 = Kernel32()
        process = self.start(kernel32)
        process.end()
        self.assertEqual(kernel32.calls[-1], ("TerminateJobObject", 77, 1))

    def test_what_it_left_behind_is_ended_and_the_handle_closed(self):
        kernel32 = Kernel32()
        process = self.start(kernel32)
        process.wait()
        self.assertEqual(process.leave(), 3)
        process.end_rest()
        process.end_rest()
        process.end()
        self.assertEqual(kernel32.names()[-5:], ["wait", "TerminateJobObject", "wait", "close", "CloseHandle"])

    def test_a_process_that_cannot_be_put_into_its_job_is_not_used(self):
        kernel32 = Kernel32(["AssignProcessToJobObject"])
        with self.assertRaises(windows_job.JobFault):
            self.start(kernel32)
        self.assertEqual(kernel32.names()[-2:], ["kill", "CloseHandle"])

    def test_a_program_that_cannot_be_started_leaves_no_job(self):
        kernel32 = Kernel32()
        with self.assertRaises(OSError):
            self.start(kernel32, fails=True)
        self.assertEqual(kernel32.names()[-1], "CloseHandle")

    def test_it_is_the_one_that_is_used_on_windows(self):
        real = os.name
        self.addCleanup(setattr, os, "name", real)
        kinds = []
        for name in ("WindowsProcess", "PosixProcess"):
            self.addCleanup(setattr, processes, name, getattr(processes, name))
            setattr(processes, name, lambda *_, kind=name: kinds.append(kind))
        for os.name in ("nt", "posix"):
            processes.start_process([], {}, "", 1)
        self.assertEqual(kinds, ["WindowsProcess", "PosixProcess"])


if __name__ == "__main__":
    unittest.main()
