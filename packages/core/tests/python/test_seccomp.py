import errno
import itertools
import os
import re
import socket
import struct
import unittest

import python_half  # noqa: F401
from pungi.jail import call_arguments, seccomp, system_calls

ALLOW, ASK, KILL, ERRNO = 0x7FFF0000, 0x7FC00000, 0x80000000, 0x00050000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FILTERS = ("runs", "fork server", "last", "of template 7")
SOME_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
HEADER = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"
# The kernel's own numbers, written down here once more: a slip in the table must not pass its own test.
CALLS = {
    "x86_64": {
        "read": 0, "write": 1, "mmap": 9, "ioctl": 16, "shmget": 29, "socket": 41, "clone": 56, "fork": 57, "execve": 59,
        "kill": 62, "ptrace": 101, "mknod": 133, "personality": 135, "setpriority": 141, "mount": 165, "futex": 202,
        "sched_setaffinity": 203, "mq_open": 240, "keyctl": 250, "openat": 257, "mknodat": 259, "unshare": 272,
        "perf_event_open": 298, "prlimit64": 302, "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310,
        "seccomp": 317, "memfd_create": 319, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425, "clone3": 435,
        "pidfd_getfd": 438, "landlock_create_ruleset": 444, "close_range": 436,
        "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "fchownat": 260, "fchmodat": 268, "fchmodat2": 452,
        "utimensat": 280, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197,
        "inotify_add_watch": 254, "sendmsg": 46, "sendmmsg": 307, "sendto": 44, "setsockopt": 54, "fcntl": 72,
        "prctl": 157, "mkdirat": 258, "umask": 95, "vmsplice": 278, "splice": 275, "socketpair": 53, "flock": 73,
        "tee": 276, "sendfile": 40, "fallocate": 285, "sync": 162, "madvise": 28, "bind": 49, "connect": 42,
        "landlock_restrict_self": 446, "capset": 126, "timer_create": 222, "fadvise64": 221, "umount2": 166, "quotactl": 179,
        "tkill": 200, "tgkill": 234, "pidfd_open": 434,
    },
    "aarch64": {
        "read": 63, "write": 64, "mmap": 222, "ioctl": 29, "shmget": 194, "socket": 198, "clone": 220, "execve": 221,
        "kill": 129, "ptrace": 117, "personality": 92, "setpriority": 140, "mount": 40, "futex": 98,
        "sched_setaffinity": 122, "mq_open": 180, "keyctl": 219, "openat": 56, "mknodat": 33, "unshare": 97,
        "perf_event_open": 241, "prlimit64": 261, "open_by_handle_at": 265, "setns": 268, "process_vm_readv": 270,
        "seccomp": 277, "memfd_create": 279, "bpf": 280, "userfaultfd": 282, "io_uring_setup": 425, "clone3": 435,
        "pidfd_getfd": 438, "landlock_create_ruleset": 444, "close_range": 436,
        "fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "fchown": 55, "fchownat": 54, "utimensat": 88, "setxattr": 5,
        "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "inotify_add_watch": 27, "sendmsg": 211, "sendmmsg": 269,
        "sendto": 206, "setsockopt": 208, "fcntl": 25, "prctl": 167, "vmsplice": 75, "splice": 76, "socketpair": 199, "flock": 32,
        "mkdirat": 34, "umask": 166,
        "tee": 77, "sendfile": 71, "fallocate": 47, "sync": 81, "madvise": 233, "bind": 200, "connect": 203,
        "landlock_restrict_self": 446, "capset": 91, "timer_create": 107, "fadvise64": 223, "umount2": 39, "quotactl": 60,
        "tkill": 130, "tgkill": 131, "pidfd_open": 434,
    },
}


def instructions(machine, has_namespaces=True, has_data=False, filter_of="runs"):
    """`filter_of`: runs, the fork server while packages load, or the last steps of a worker."""
    code, length = {
        "runs": lambda: seccomp._build(machine, has_namespaces, has_data),
        "fork server": lambda: seccomp._build_for_fork_server(machine, has_namespaces, has_data),
        "last": lambda: seccomp._build_last(machine, has_flock=not has_data),
        "of template 7": lambda: seccomp._build_last(machine, has_flock=not has_data, template=7),
        "last without gate": lambda: seccomp._build_last(machine, has_flock=False, pretends_attributes=True),
    }[filter_of]()
    assert len(code) == 8 * length
    return [struct.unpack_from("HBBI", code, 8 * index) for index in range(length)]


def simulate(program, architecture, number, arguments=()):
    """Runs classic BPF as the kernel would on one system call; returns the answer."""
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *(*(a & (1 << 64) - 1 for a in arguments), *[0] * 6)[:6])
    accumulator = at = 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == 0x20:  # load a word
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x05:
            at += value
        elif code == 0x15:
            at += if_true if accumulator == value else if_false
        elif code == 0x35:
            at += if_true if accumulator >= value else if_false
        elif code == 0x45:
            at += if_true if accumulator & value else if_false
        elif code == 0x06:
            return value
        else:
            raise AssertionError(f"an instruction {code:#x} that this simulation does not know")


class BothArchitectures(unittest.TestCase):
    """Each test looks at the filter of each architecture, whichever one it runs on."""

    def each(self):
        for machine, architecture in ARCHITECTURES.items():
            with self.subTest(machine):
                yield machine, architecture, CALLS[machine]

    def answer(self, machine, name, *arguments, **options):
        return simulate(instructions(machine, **options), ARCHITECTURES[machine], CALLS[machine][name], arguments)

    def assertAllowed(self, machine, name, *arguments, **options):
        self.assertEqual(self.answer(machine, name, *arguments, **options), ALLOW, f"{name}{arguments}")

    def assertDenied(self, machine, name, *arguments, error=errno.EPERM, **options):
        self.assertEqual(self.answer(machine, name, *arguments, **options), ERRNO | error, f"{name}{arguments}")


class Program(BothArchitectures):
    def test_every_jump_lands_inside_and_every_way_ends(self):
        for machine, _, _ in self.each():
            for options in itertools.product((True, False), (True, False), FILTERS):
                program = instructions(machine, *options)
                self.assertLessEqual(len(program), 4096)
                self.assertEqual(program[-1][0], 0x06)
                for at, (code, if_true, if_false, value) in enumerate(program):
                    self.assertIn(code, (0x05, 0x06, 0x15, 0x20, 0x35, 0x45, 0x54))
                    if code == 0x05:
                        self.assertLess(at + 1 + value, len(program))
                    if code in (0x15, 0x35, 0x45):
                        self.assertLess(at + 1 + max(if_true, if_false), len(program))
                    if code == 0x20:
                        self.assertLess(value, 64)
                        self.assertEqual(value % 4, 0)

    def test_every_call_number_gets_an_answer(self):
        for machine, architecture, _ in self.each():
            for has_namespaces in (True, False):
                program = instructions(machine, has_namespaces)
                for number in (*range(600), 0x3FFFFFFF, 0xFFFFFFFF):
                    kind = simulate(program, architecture, number) & 0xFFFF0000
                    self.assertIn(kind, (ALLOW, ERRNO) if has_namespaces else (ALLOW, ASK, ERRNO))

    def test_calls_that_are_not_listed_do_not_exist(self):
        for machine, architecture, _ in self.each():
            column = list(ARCHITECTURES).index(machine)
            listed = {numbers[column] for numbers in system_calls.NUMBERS.values()}
            for has_namespaces, has_data, filter_of in itertools.product((True, False), (True, False), FILTERS[:2]):
                program = instructions(machine, has_namespaces, has_data, filter_of)
                for number in {*range(700), 0x3FFFFFFF, 0xFFFFFFFF} - listed:
                    self.assertEqual(simulate(program, architecture, number), ERRNO | errno.ENOSYS, number)

    def test_listed_calls_get_the_answer_of_their_group(self):
        for machine, architecture, _ in self.each():
            column = list(ARCHITECTURES).index(machine)
            program = instructions(machine)
            for error, calls in system_calls.REFUSED.values():
                for name in calls.keys() - seccomp._BEFORE_RUNS.keys():
                    if (number := calls[name][column]) is not None:
                        self.assertEqual(simulate(program, architecture, number), ERRNO | error, name)
            for calls in system_calls.ALLOWED.values():
                for name in calls.keys() - call_arguments.ARGUMENTS.keys():
                    if (number := calls[name][column]) is not None:
                        self.assertEqual(simulate(program, architecture, number), ALLOW, name)

    def test_another_architecture_is_killed(self):
        i386, arm = 0x40000003, 0x40000028
        for machine, architecture, calls in self.each():
            program = instructions(machine)
            for other in (i386, arm, *(set(ARCHITECTURES.values()) - {architecture})):
                self.assertEqual(simulate(program, other, calls["read"]), KILL)

    def test_the_x32_calls_are_refused(self):
        program = instructions("x86_64")
        for number in (0, 101, 512, 545):
            answer = simulate(program, ARCHITECTURES["x86_64"], 0x40000000 | number)
            self.assertEqual(answer, ERRNO | errno.ENOSYS)


class Tables(unittest.TestCase):
    def test_every_call_is_in_one_group_with_numbers_of_its_own(self):
        groups = [*system_calls.ALLOWED.values(), *(calls for _, calls in system_calls.REFUSED.values())]
        self.assertEqual(sum(map(len, groups)), len(system_calls.NUMBERS))
        for column in range(len(system_calls.ARCHITECTURES)):
            numbers = [numbers[column] for numbers in system_calls.NUMBERS.values() if numbers[column] is not None]
            self.assertEqual(len(set(numbers)), len(numbers))

    def test_every_group_has_a_sentence(self):
        for sentence in (*system_calls.ALLOWED, *system_calls.REFUSED):
            self.assertRegex(sentence, r"^[A-Z].*\.$")

    def test_rules_are_for_calls_that_are_allowed(self):
        allowed = {name for calls in system_calls.ALLOWED.values() for name in calls}
        self.assertLessEqual(call_arguments.ARGUMENTS.keys(), allowed)

    def test_the_numbers_are_those_of_the_kernel(self):
        for machine, calls in CALLS.items():
            column = list(ARCHITECTURES).index(machine)
            for name, number in calls.items():
                self.assertEqual(system_calls.NUMBERS[name][column], number, name)

    @unittest.skipUnless(os.path.exists(HEADER), "the kernel's headers are not installed")
    def test_the_numbers_are_those_of_the_installed_headers(self):
        with open(HEADER, encoding="ascii") as file:
            found = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", file.read())}
        for name in system_calls.NUMBERS.keys() & found.keys():
            self.assertEqual(system_calls.NUMBERS[name][0], found[name], name)


class Calls(BothArchitectures):
    def test_ordinary_ones_are_allowed(self):
        for machine, _, _ in self.each():
            for name in ("read", "write", "execve", "futex", "openat", "kill", "sendto"):
                for has_namespaces in (True, False):
                    self.assertAllowed(machine, name, 1, 2, 3, has_namespaces=has_namespaces)
        self.assertAllowed("x86_64", "fork")

    def test_attacks_are_denied_whatever_their_arguments(self):
        names = (
            "ptrace", "process_vm_readv", "pidfd_getfd", "unshare", "setns", "mount", "open_by_handle_at", "bpf",
            "perf_event_open", "userfaultfd", "io_uring_setup", "keyctl", "landlock_create_ruleset", "timer_create", "quotactl",
        )
        for machine, _, _ in self.each():
            for name in names:
                for arguments in ((), (0, 0, 0), ((1 << 64) - 1,) * 6):
                    for has_namespaces in (True, False):
                        self.assertDenied(machine, name, *arguments, has_namespaces=has_namespaces)

    def test_pages_stay_out_of_pipes_and_sockets(self):
        for machine, _, _ in self.each():
            for has_namespaces in (True, False):
                for name in ("splice", "tee", "vmsplice"):
                    self.assertDenied(machine, name, has_namespaces=has_namespaces, error=errno.ENOSYS)
                self.assertDenied(machine, "sendfile", has_namespaces=has_namespaces, error=errno.ENOTSOCK)

    def test_what_a_worker_does_before_its_run_ends_with_the_last_filter(self):
        set_filter, listener = 1, 8
        for machine, _, _ in self.each():
            for has_namespaces in (True, False):
                self.assertAllowed(machine, "seccomp", set_filter, 0, has_namespaces=has_namespaces)
                self.assertDenied(machine, "seccomp", set_filter, listener, has_namespaces=has_namespaces)
                self.assertDenied(machine, "seccomp", 3, 0, has_namespaces=has_namespaces)
            for name in ("seccomp", "landlock_restrict_self", "capset", "pidfd_getfd"):
                self.assertDenied(machine, name, set_filter, 0, filter_of="last")
            self.assertAllowed(machine, "landlock_restrict_self")

    def test_space_is_reserved_in_the_own_file_system_only(self):
        for machine, _, _ in self.each():
            self.assertAllowed(machine, "fallocate", 3, 0, 0, 4096)
            self.assertDenied(machine, "fallocate", 3, 0, 0, 4096, has_namespaces=False, error=errno.EOPNOTSUPP)

    def test_writing_back_the_whole_machine_does_nothing(self):
        for machine, _, _ in self.each():
            self.assertDenied(machine, "sync", error=0)

    def test_memory_that_nobody_counts_does_not_exist(self):
        for machine, _, _ in self.each():
            for name in ("memfd_create", "shmget", "mq_open", "clone3"):
                self.assertDenied(machine, name, error=errno.ENOSYS)

    def test_clone_makes_processes_and_threads_and_no_namespaces(self):
        fork, thread = 0x01200011, 0x003D0F00
        namespaces = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x00000080)
        for machine, _, _ in self.each():
            self.assertAllowed(machine, "clone", fork)
            self.assertAllowed(machine, "clone", thread)
            # CLONE_PARENT: a child of the supervisor, which a double fork makes, too. In the landlock tier no template needs it.
            self.assertAllowed(machine, "clone", fork | 0x8000)
            self.assertDenied(machine, "clone", fork | 0x8000, has_namespaces=False)
            self.assertAllowed(machine, "clone", fork | 0x400)
            for namespace in namespaces:
                self.assertDenied(machine, "clone", namespace)
                self.assertDenied(machine, "clone", fork | namespace)

    def test_workers_do_not_signal_their_template(self):
        minus_7 = -7 & 0xFFFFFFFF
        for machine, _, _ in self.each():
            for name, arguments in {"kill": (7, 9), "tkill": (7, 9), "pidfd_open": (7, 0)}.items():
                self.assertDenied(machine, name, *arguments, filter_of="of template 7")
                self.assertAllowed(machine, name, 8, *arguments[1:], filter_of="of template 7")
                self.assertAllowed(machine, name, *arguments, filter_of="last")
            self.assertDenied(machine, "kill", minus_7, 9, filter_of="of template 7")
            self.assertAllowed(machine, "kill", 0xFFFFFFFF, 9, filter_of="of template 7")
            for process, thread in ((7, 7), (7, 8), (8, 7)):
                self.assertDenied(machine, "tgkill", process, thread, 9, filter_of="of template 7")
            self.assertAllowed(machine, "tgkill", 8, 8, 9, filter_of="of template 7")

    def test_a_worker_becomes_dumpable_and_never_undumpable(self):
        dumpable = 4
        for machine, _, _ in self.each():
            self.assertAllowed(machine, "prctl", dumpable, 1, filter_of="of template 7")
            self.assertDenied(machine, "prctl", dumpable, 0, filter_of="of template 7")
            self.assertDenied(machine, "prctl", dumpable, 1, filter_of="last")
            self.assertAllowed(machine, "prctl", 15, 0, filter_of="of template 7")
            self.assertDenied(machine, "prctl", 22, 0, filter_of="of template 7")

    def test_a_thread_has_the_descriptors_of_its_process(self):
        thread, files = 0x003D0F00, 0x400
        for machine, _, _ in self.each():
            for filter_of in ("runs", "fork server"):
                self.assertDenied(machine, "clone", thread & ~files, filter_of=filter_of)
                for flags in (0, 4):
                    self.assertAllowed(machine, "close_range", 3, 9, flags, filter_of=filter_of)
                for flags in (2, 6):
                    self.assertDenied(machine, "close_range", 3, 9, flags, filter_of=filter_of, error=errno.EINVAL)

    def test_sockets_by_family(self):
        packet, vsock, alg, bluetooth = 17, 40, 38, 31
        for machine, _, _ in self.each():
            for family in SOME_FAMILIES:
                self.assertAllowed(machine, "socket", family, socket.SOCK_STREAM, 0)
                self.assertDenied(machine, "socket", family, has_namespaces=False, error=errno.EACCES)
            for family in (0, packet, vsock, alg, bluetooth, 0xFFFFFFFF):
                for has_namespaces in (True, False):
                    self.assertDenied(machine, "socket", family, has_namespaces=has_namespaces, error=errno.EACCES)

    def test_of_netlink_only_interfaces_are_asked_for(self):
        netlink, route, sock_diag = 16, 0, 4
        for machine, _, _ in self.each():
            self.assertAllowed(machine, "socket", netlink, socket.SOCK_RAW, route)
            self.assertAllowed(machine, "socket", netlink, socket.SOCK_RAW, sock_diag, filter_of="fork server")
            for protocol in range(1, 23):
                self.assertDenied(machine, "socket", netlink, socket.SOCK_RAW, protocol, error=errno.EACCES)
            for options in ({"has_namespaces": False}, {"has_namespaces": False, "filter_of": "fork server"}):
                self.assertDenied(machine, "socket", netlink, socket.SOCK_RAW, route, error=errno.EACCES, **options)

    def test_supervisors_of_runs_with_data_make_no_unix_sockets(self):
        for machine, _, _ in self.each():
            self.assertDenied(
                machine, "socket", socket.AF_UNIX, socket.SOCK_STREAM, 0, has_data=True, filter_of="fork server", error=errno.EACCES
            )

    def test_no_datagram_is_gathered_from_single_bytes(self):
        more, no_wait = 0x8000, 0x40
        for machine, _, _ in self.each():
            self.assertAllowed(machine, "sendto", 3, 0, 0, no_wait)
            self.assertDenied(machine, "sendto", 3, 0, 0, more | no_wait, error=errno.EOPNOTSUPP)
            self.assertAllowed(machine, "sendmsg", 3, 0, no_wait)
            self.assertDenied(machine, "sendmsg", 3, 0, more, error=errno.EOPNOTSUPP)

    def test_sockets_are_streams_datagrams_and_packets_of_tcp_and_udp(self):
        raw, nonblocking, icmp, mptcp, sctp, tcp = 3, 0o4000, 1, 262, 132, 6
        for machine, _, _ in self.each():
            self.assertAllowed(machine, "socket", socket.AF_INET, socket.SOCK_STREAM | nonblocking, tcp)
            self.assertDenied(machine, "socket", socket.AF_INET, raw, 0, error=errno.EACCES)
            for protocol in (icmp, mptcp, sctp):
                self.assertDenied(machine, "socket", socket.AF_INET, socket.SOCK_STREAM, protocol, error=errno.EACCES)

    def test_a_pair_cannot_reach_other_sockets_where_the_host_has_some(self):
        nonblocking = 0o4000
        for machine, _, _ in self.each():
            for options in ({"has_namespaces": False}, {"has_data": True}):
                self.assertDenied(machine, "socketpair", socket.AF_UNIX, socket.SOCK_DGRAM, 0, error=errno.EACCES, **options)
                self.assertAllowed(machine, "socketpair", socket.AF_UNIX, socket.SOCK_STREAM | nonblocking, 0, **options)
            self.assertAllowed(machine, "socketpair", socket.AF_UNIX, socket.SOCK_DGRAM, 0)
            for name in ("bind", "connect"):
                self.assertDenied(machine, name, has_namespaces=False, error=errno.EACCES)

    def test_a_run_that_sees_folders_of_the_host_makes_no_unix_socket_but_a_pair(self):
        for machine, _, _ in self.each():
            self.assertDenied(machine, "socket", socket.AF_UNIX, socket.SOCK_STREAM, 0, has_data=True, error=errno.EACCES)
            self.assertDenied(machine, "socket", socket.AF_INET, has_namespaces=False, has_data=True, error=errno.EACCES)
            self.assertAllowed(machine, "socket", socket.AF_INET, socket.SOCK_STREAM, 0, has_data=True)
            self.assertAllowed(machine, "socketpair", socket.AF_UNIX, socket.SOCK_STREAM, 0, has_data=True)

    def test_files_of_the_host_are_not_locked(self):
        set_lock, set_lease, notify = 6, 1024, 1026
        for machine, _, _ in self.each():
            for has_namespaces in (True, False):
                self.assertDenied(machine, "flock", 3, 2, has_namespaces=has_namespaces, error=errno.ENOSYS)
                for command in (set_lease, notify):
                    self.assertDenied(machine, "fcntl", 3, command, 0, has_namespaces=has_namespaces)
                # SQLite cannot do without.
                self.assertAllowed(machine, "fcntl", 3, set_lock, 0, has_namespaces=has_namespaces, has_data=True)

    def test_shared_memory_without_a_file_is_denied(self):
        shared, private, anonymous, fixed, huge = 1, 2, 0x20, 0x10, 0x40000
        for machine, _, _ in self.each():
            self.assertDenied(machine, "mmap", 0, 4096, 3, shared | anonymous)
            self.assertDenied(machine, "mmap", 0, 4096, 3, shared | anonymous | fixed)
            self.assertDenied(machine, "mmap", 0, 4096, 3, 3 | anonymous)  # MAP_SHARED_VALIDATE
            self.assertDenied(machine, "mmap", 0, 4096, 3, private | anonymous | huge)
            self.assertAllowed(machine, "mmap", 0, 4096, 3, shared)
            self.assertAllowed(machine, "mmap", 0, 4096, 3, private | anonymous)

    def test_limits_priority_and_affinity_are_a_process_s_own(self):
        for machine, _, _ in self.each():
            self.assertAllowed(machine, "prlimit64", 0, 7)
            self.assertDenied(machine, "prlimit64", 1, 7)
            self.assertAllowed(machine, "sched_setaffinity", 0)
            self.assertDenied(machine, "sched_setaffinity", 1)
            self.assertAllowed(machine, "setpriority", 0, 0, 5)
            self.assertDenied(machine, "setpriority", 0, 1, 5)
            self.assertDenied(machine, "setpriority", 1, 0, 5)
            self.assertDenied(machine, "setpriority", 2, 0, 5)

    def test_personality_may_be_asked_and_reset_only(self):
        for machine, _, _ in self.each():
            self.assertAllowed(machine, "personality", 0)
            self.assertAllowed(machine, "personality", 0xFFFFFFFF)
            self.assertDenied(machine, "personality", 0x0040000)

    def test_nodes_are_files_pipes_and_sockets_and_no_devices(self):
        for machine, _, calls in self.each():
            for kind, is_allowed in ((0o100600, True), (0o010600, True), (0o140600, True), (0o020600, False), (0o060600, False)):
                check = self.assertAllowed if is_allowed else self.assertDenied
                check(machine, "mknodat", 0, 0, kind)
                if "mknod" in calls:
                    check(machine, "mknod", 0, kind)

    def test_terminals_cannot_be_typed_into(self):
        for machine, _, _ in self.each():
            self.assertDenied(machine, "ioctl", 0, 0x5412)
            self.assertDenied(machine, "ioctl", 0, 0x541C)
            # The kernel takes the lower half of the number only.
            self.assertDenied(machine, "ioctl", 0, 0x5412 | 1 << 32)
            self.assertAllowed(machine, "ioctl", 0, 0x5401)

    def test_flags_of_files_cannot_be_set_but_asked_for(self):
        for machine, _, _ in self.each():
            self.assertDenied(machine, "ioctl", 0, 0x40086602)
            self.assertDenied(machine, "ioctl", 0, 0x401C5820)
            self.assertAllowed(machine, "ioctl", 0, 0x80086601)

    def test_nothing_that_a_reader_may_change_of_an_inode_can_be_changed(self):
        versions = (0x40087602, 0x40047602, 0x40086604, 0x40046604)
        verity, encryption, snapshot, f2fs_pin = 0x40806685, 0x800C6613, 0x50009401, 0x4004F50D
        get_version, extents, window_size = 0x80087601, 0xC020660B, 0x5413
        for machine, _, _ in self.each():
            for has_namespaces in (True, False):
                for request in (*versions, verity, encryption, snapshot, f2fs_pin):
                    self.assertDenied(machine, "ioctl", 3, request, has_namespaces=has_namespaces)
                for request in (get_version, extents, window_size):
                    self.assertAllowed(machine, "ioctl", 3, request, has_namespaces=has_namespaces)

    def test_attributes_are_asked_for_where_no_namespace_bounds_them_and_set_in_pretence_where_nobody_answers(self):
        names = ("fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr")
        for machine, _, calls in self.each():
            for name in (*names, *({"chmod", "chown"} & set(calls))):
                self.assertEqual(self.answer(machine, name, 1, 2, 3, has_namespaces=False), ASK, name)
                self.assertAllowed(machine, name, 1, 2, 3)
                self.assertDenied(machine, name, 1, 2, 3, filter_of="last without gate", error=0)
                self.assertAllowed(machine, name, 1, 2, 3, filter_of="last")

    def test_a_gate_asks_about_every_call_that_changes_attributes(self):
        for machine, _, _ in self.each():
            for name, numbers in {**system_calls.ATTRIBUTES, "flock": system_calls.NUMBERS["flock"]}.items():
                number = numbers[list(ARCHITECTURES).index(machine)]
                for is_asked, expected in ((True, ASK), (False, ASK if name == "flock" else ALLOW)):
                    code, length = seccomp._build_file_gate(machine, is_asked)
                    program = [struct.unpack_from("HBBI", code, 8 * index) for index in range(length)]
                    if number is not None:
                        self.assertEqual(simulate(program, ARCHITECTURES[machine], number), expected, name)

    def test_the_time_of_a_path_is_not_set_to_now_in_pretence_so_that_touch_makes_the_file(self):
        descriptor, path, now, some_time, no_path = 3, 4096, 0, 8192, 0
        for machine, _, _ in self.each():
            for arguments, error in (((path, now), errno.EPERM), ((path, some_time), 0), ((no_path, now), 0)):
                self.assertDenied(machine, "utimensat", descriptor, *arguments, filter_of="last without gate", error=error)

    def test_descriptors_in_messages_are_denied_where_no_namespace_bounds_them(self):
        for machine, _, _ in self.each():
            self.assertDenied(machine, "sendmsg", 1, 2, 3, has_namespaces=False, error=errno.EACCES)
            self.assertAllowed(machine, "sendmsg", 1, 2, 3)
            for has_namespaces in (True, False):
                self.assertDenied(machine, "sendmmsg", 1, 2, 3, has_namespaces=has_namespaces, error=errno.ENOSYS)

    def test_buffers_in_the_kernel_keep_their_size_and_sockets_get_no_filters(self):
        reuse, send, receive, keep_alive = 2, 7, 8, 9
        attach_filter, attach_bpf, reuseport_filter, zero_copy, no_delay, upper_protocol = 26, 50, 51, 60, 1, 31
        pretended, set_pipe_size, get_pipe_size = 0, 1031, 1032
        for machine, _, _ in self.each():
            for option in (send, receive):
                self.assertDenied(machine, "setsockopt", 3, socket.SOL_SOCKET, option, error=pretended)
            for option in (reuse, keep_alive):
                self.assertAllowed(machine, "setsockopt", 3, socket.SOL_SOCKET, option)
            for option in (attach_filter, attach_bpf, reuseport_filter, zero_copy):
                self.assertDenied(machine, "setsockopt", 3, socket.SOL_SOCKET, option)
            self.assertAllowed(machine, "setsockopt", 3, socket.IPPROTO_TCP, no_delay)
            self.assertDenied(machine, "setsockopt", 3, socket.IPPROTO_TCP, upper_protocol)
            self.assertDenied(machine, "setsockopt", 3, 263, no_delay)
            self.assertDenied(machine, "fcntl", 3, set_pipe_size, 1 << 20)
            self.assertAllowed(machine, "fcntl", 3, get_pipe_size)
            self.assertAllowed(machine, "fcntl", 3, 1)

    def test_a_process_stays_readable_to_its_supervisor(self):
        set_dumpable, get_dumpable, set_name = 4, 3, 15
        for machine, _, _ in self.each():
            for value in (0, 1, 2):
                self.assertDenied(machine, "prctl", set_dumpable, value, filter_of="last")
                # The supervisor, which has the other filter already, is hidden; each of its workers has to come forward.
                self.assertAllowed(machine, "prctl", set_dumpable, value)
            self.assertAllowed(machine, "prctl", get_dumpable, filter_of="last")
            self.assertAllowed(machine, "prctl", set_name, filter_of="last")
            for option in (22, 36, 40, 47, 0x53564D41):  # seccomp, subreaper, auxv, ambient capabilities, names of memory
                self.assertDenied(machine, "prctl", option, 2)

    def test_memory_is_not_merged_or_poisoned(self):
        for machine, _, _ in self.each():
            for advice in (12, 100, 101):
                self.assertDenied(machine, "madvise", 0, 4096, advice, error=errno.EINVAL)
            self.assertAllowed(machine, "madvise", 0, 4096, 4)

    def test_files_of_the_host_stay_in_memory(self):
        not_needed, will_need = 4, 3
        for machine, _, _ in self.each():
            self.assertDenied(machine, "fadvise64", 3, 0, 0, not_needed, error=0)
            self.assertAllowed(machine, "fadvise64", 3, 0, 0, will_need)

    def test_copies_do_without_clones(self):
        for machine, _, _ in self.each():
            self.assertDenied(machine, "ioctl", 3, 0x40049409, error=errno.EOPNOTSUPP)


class ForkServer(BothArchitectures):
    """While packages load, before supervisors are forked."""

    def check(self, expected, machine, name, *arguments, has_namespaces=True):
        answer = self.answer(machine, name, *arguments, has_namespaces=has_namespaces, filter_of="fork server")
        self.assertEqual(answer, expected, f"{name}{arguments}")

    def test_packages_reach_no_part_of_the_kernel_that_supervisors_do_not_need(self):
        names = (
            "ptrace", "process_vm_readv", "unshare", "setns", "open_by_handle_at", "bpf", "perf_event_open", "userfaultfd",
            "io_uring_setup", "keyctl",
        )
        for machine, _, _ in self.each():
            for has_namespaces in (True, False):
                for name in names:
                    self.check(ERRNO | errno.EPERM, machine, name, has_namespaces=has_namespaces)
                for name in ("memfd_create", "shmget", "clone3"):
                    self.check(ERRNO | errno.ENOSYS, machine, name, has_namespaces=has_namespaces)

    def test_supervisors_can_build_their_walls(self):
        namespaces = 0x78020000 | 17
        for machine, _, _ in self.each():
            self.check(ALLOW, machine, "clone", namespaces)
            self.check(ERRNO | errno.EPERM, machine, "clone", namespaces, has_namespaces=False)
            self.check(ERRNO | errno.EPERM, machine, "clone", 0x04000000)
            self.check(ALLOW, machine, "mount")
            self.check(ALLOW, machine, "ioctl", 3, 0x8914)  # SIOCSIFFLAGS: the loopback
            self.check(ERRNO | errno.EPERM, machine, "mount", has_namespaces=False)
            for has_namespaces in (True, False):
                for name in ("landlock_create_ruleset", "landlock_restrict_self", "capset"):
                    self.check(ALLOW, machine, name, has_namespaces=has_namespaces)
                self.check(ALLOW, machine, "seccomp", 1, 0, has_namespaces=has_namespaces)
                for option in (4, 36, 38):
                    self.check(ALLOW, machine, "prctl", option, has_namespaces=has_namespaces)
            self.check(ALLOW, machine, "sendmsg")

    def test_files_are_locked_by_supervisors_and_never_where_data_is_shown(self):
        for machine, _, _ in self.each():
            for has_namespaces in (True, False):
                for name in ("flock", "pidfd_getfd"):
                    self.check(ALLOW, machine, name, 3, 2, has_namespaces=has_namespaces)
                for filter_of in FILTERS:
                    options = {"has_namespaces": has_namespaces, "has_data": True, "filter_of": filter_of}
                    self.assertDenied(machine, "flock", 3, 2, error=errno.ENOSYS, **options)
                    if has_namespaces or filter_of != "fork server":
                        self.assertDenied(machine, "pidfd_getfd", 3, 2, **options)

    def test_nobody_chooses_to_outlive_the_guard(self):
        for machine, _, _ in self.each():
            self.check(ERRNO, machine, "prctl", 1, 0)
            self.check(ERRNO, machine, "prctl", 1, 0, has_namespaces=False)

    def test_without_namespaces_packages_have_neither_sockets_nor_attributes_of_files(self):
        for machine, _, _ in self.each():
            for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16):
                self.check(ERRNO | errno.EACCES, machine, "socket", family, socket.SOCK_DGRAM, has_namespaces=False)
            self.check(ERRNO | errno.EACCES, machine, "socketpair", socket.AF_UNIX, socket.SOCK_DGRAM, has_namespaces=False)
            for name in ("connect", "sendmsg"):
                self.check(ERRNO | errno.EACCES, machine, name, has_namespaces=False)
            # Where nobody answers, what is asked does not exist.
            for name in ("fchmod", "fchmodat", "fchownat", "utimensat", "setxattr"):
                self.check(ASK, machine, name, -100, 0, 0o700, has_namespaces=False)
                self.check(ALLOW, machine, name)

    def test_without_namespaces_nobody_makes_a_folder_that_its_owner_cannot_enter(self):
        for machine, _, _ in self.each():
            for mode, expected in ((0o777, ALLOW), (0o700, ALLOW), (0, ERRNO | errno.EPERM), (0o577, ERRNO | errno.EPERM)):
                self.check(expected, machine, "mkdirat", 0, 0, mode, has_namespaces=False)
            self.check(ALLOW, machine, "umask", 0o077, has_namespaces=False)
            self.check(ERRNO, machine, "umask", 0o777, has_namespaces=False)


if __name__ == "__main__":
    unittest.main()
