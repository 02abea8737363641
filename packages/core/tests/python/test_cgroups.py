"""Runs with a cgroup of their own: real ones where this user may make any, and the figures of both versions from files."""

import fcntl
import glob
import json
import os
import socket
import struct
import tempfile
import time
import unittest
from unittest import mock

import python_half  # noqa: F401
from pungi.jail import host_jail, system
from pungi.limits import cgroup_keeper, cgroup_place, free_memory, run_group
from pungi.run import frames
from serving import LIMITS, SANDBOX_UID, Server, tier_that_works

MB = 1024 * 1024
NAME = f"pungi-{os.getpid()}-test"


def place_here():
    try:
        return cgroup_place.find(os.getpid()) if system.IS_LINUX else None
    except cgroup_place.Unavailable:
        return None


PLACE = place_here()


def groups_left():
    return [path for folder in set(PLACE.folders.values()) for path in glob.glob(f"{folder}/{NAME}")]


def until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 10 s"
        time.sleep(0.01)


def told(action):
    try:
        return repr(action())
    except OSError as error:
        return type(error).__name__


def act_hostile(group):
    """Package code in the fork server, which has what the guard sent for a supervisor."""
    names = {os.path.basename(os.readlink(f"/proc/self/fd/{fd}")) for fd in group._files.values()}
    up = {told(lambda: os.open("..", os.O_RDONLY, dir_fd=fd)) for fd in group._files.values()}
    os.write(group._keeper, b"enter 1")
    init = [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("3i", 1, 0, 0))]
    with socket.socket(fileno=os.dup(group._keeper)) as keeper:
        forged = told(lambda: keeper.sendmsg([b"enter"], init))
    group.limit(1 << 20, 0, 1 << 20)
    group.enter()
    return {"names": sorted(names), "up": sorted(up), "forged": forged, "own": cgroup_place.read("/proc/self/cgroup")}


@unittest.skipUnless(PLACE, "this user may not make cgroups here")
class Cgroups(unittest.TestCase):
    def server(self, **options):
        server = Server(options.pop("tier", None) or tier_that_works(), cgroups={"name": NAME, "server": os.getpid(), "totalMb": None}, **options)
        self.addCleanup(until, lambda: not groups_left())
        self.addCleanup(server.close)
        return server

    def test_are_listed_and_removed_when_the_server_closes(self):
        server = self.server()
        supervisor = server.park()
        features = [name for name in supervisor.about["features"] if name.startswith("cgroup")]
        self.assertEqual(features[:2], [f"cgroup-{PLACE.version}-memory", f"cgroup-{PLACE.version}-pids"])
        self.assertEqual(supervisor.about["cgroup"]["version"], PLACE.version)
        self.assertTrue(groups_left())
        server.process.stdin.close()
        server.process.wait()
        until(lambda: not groups_left())

    def test_are_removed_after_the_fork_server_was_killed(self):
        server = self.server()
        server.park()
        server.process.kill()
        until(lambda: not groups_left())

    def test_those_of_dead_servers_are_removed_at_the_next_start(self):
        name = f"pungi-{os.getpid()}-dead"
        left = [f"{folder}/{name}" for folder in PLACE.folders.values()]
        os.mkdir(f"{PLACE.folders['memory']}/{name}")
        # Another server of this machine must not remove them while they are made.
        lock = os.open(f"{PLACE.folders['memory']}/{name}", os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for folder in dict.fromkeys(left):
            os.makedirs(f"{folder}/7/1")
        os.close(lock)
        self.server().park()
        until(lambda: not any(map(os.path.exists, left)))

    def test_a_run_is_not_charged_for_what_former_ones_left(self):
        supervisor = self.server().park()
        code = (
            "import socket\n"
            "pairs = [socket.socketpair() for _ in range(60)]\n"
            "for one, _ in pairs:\n"
            "    one.setblocking(False)\n"
            "    try:\n"
            "        while one.send(b'x' * 65536): pass\n"
            "    except BlockingIOError: pass\n"
            "kept = b'x' * (20 << 20)\n"
            "open('file', 'wb').write(b'x' * (8 << 20))\n"
        )
        for _ in range(12):
            answer = supervisor.run_and_stay(code, {**LIMITS, "memoryMb": 64, "openFiles": 256})
            self.assertEqual((answer["end"]["killedFor"], answer["end"]["status"]), (None, 0), answer)
            self.assertGreater(answer["end"]["peakBytes"], 20 * MB)
            self.assertLess(answer["end"]["peakBytes"], 64 * MB)
            supervisor.expect(frames.PARKED)

    def test_files_in_memory_are_disk_and_not_memory(self):
        answer = self.server().park().run("open('file', 'wb').write(b'x' * (12 << 20))", {**LIMITS, "memoryMb": 16})
        self.assertEqual((answer["end"]["killedFor"], answer["end"]["status"]), (None, 0), answer)

    def test_a_process_that_the_kernel_kills_for_memory_ends_the_run(self):
        code = (
            "import os, time\n"
            "if os.fork() == 0:\n"
            "    kept = [b'x' * (1 << 20) for _ in range(200)]\n"
            "os.wait()\n"
            "os._exit(0)\n"
        )
        answer = self.server().park().run(code, {**LIMITS, "memoryMb": 32})
        self.assertEqual(answer["end"]["killedFor"], "memory")

    def test_a_process_in_place_of_the_template_is_one_of_the_run(self):
        code = (
            "import os, signal, time\n"
            "os.kill(-1, signal.SIGKILL)\n"
            "while len([name for name in os.listdir('/proc') if name.isdigit()]) > 2: time.sleep(0.01)\n"
            "if os.fork() == 0: time.sleep(60)\n"
        )
        answer = self.server(tier="namespace").park().run(code)
        self.assertEqual((answer["end"]["killedFor"], answer["end"]["status"]), (None, 0), answer)
        self.assertIn("held", answer["end"], "the facts are those of a run that was the worker alone")

    def test_hostile_code_can_limit_itself_and_nothing_else(self):
        groups = cgroup_keeper.start({"name": NAME, "server": os.getpid(), "totalMb": 200})
        of_init = cgroup_place.read("/proc/1/cgroup")
        source, sink = os.pipe()
        with groups.ask() as (about, fds):
            child = os.fork()
            if child == 0:
                groups.close()
                if os.getuid() == 0:
                    host_jail.become(SANDBOX_UID)
                with run_group.received(about, fds) as group:
                    os.write(sink, json.dumps(act_hostile(group)).encode())
                os._exit(0)
        os.close(sink)
        with open(source, encoding="utf-8") as file:
            said = json.load(file)
        os.waitpid(child, 0)
        self.assertFalse({"cgroup.procs", "tasks", "cgroup.threads"} & set(said["names"]))
        self.assertEqual((said["up"], said["forged"]), (["NotADirectoryError"], "PermissionError"))
        self.assertRegex(said["own"], rf"/{NAME}/\d+/1\n")
        self.assertEqual(cgroup_place.read("/proc/1/cgroup"), of_init)
        limit = run_group.FILES[PLACE.version]["limit"].name
        self.assertEqual(int(cgroup_place.read(f"{PLACE.folders['memory']}/{NAME}/{limit}")), 200 * MB)
        groups.close()
        until(lambda: not groups_left())


class Figures(unittest.TestCase):
    """What is read and written, from files that look as the kernel's do."""

    STAT = {"v1": "cache {files}\nrss 0\n", "v2": "anon 0\nfile {files}\nkernel 5\nslab_reclaimable {slab}\n"}
    KILLS = {"v1": "oom_kill_disable 0\nunder_oom 0\noom_kill {}\n", "v2": "low 0\nhigh 0\nmax 3\noom 1\noom_kill {}\n"}
    CPU = {"v1": "{}000000\n", "v2": "usage_usec {}000\nuser_usec 1\n"}

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def group(self, version, **texts):
        known = {"usage": "0", "limit": "0", "peak": "0", "stat": self.STAT[version].format(files=0, slab=0), "hits": "0"}
        known |= {"kills": self.KILLS[version].format(0), "refusals": "max 0\n", "cpu": self.CPU[version].format(0)}
        known |= {"tasks_limit": "max"}
        self.paths = {name: f"{self.folder.name}/{version}-{name}" for name in known}
        for name, text in (known | texts).items():
            self.put(name, text)
        fds = {name: os.open(path, os.O_RDWR) for name, path in self.paths.items()}
        for fd in fds.values():
            self.addCleanup(os.close, fd)
        return run_group.RunGroup(version, None, fds)

    def put(self, name, text):
        with open(self.paths[name], "w", encoding="ascii") as file:
            file.write(str(text))

    def test_files_and_caches_are_no_memory(self):
        for version, expected in (("v1", 60), ("v2", 50)):
            group = self.group(version, usage=100 * MB, stat=self.STAT[version].format(files=40 * MB, slab=10 * MB))
            self.assertEqual(group.memory(99 * MB), expected * MB)
            self.assertEqual(group.memory(100 * MB), 100 * MB, "what is known to be more is not looked at closely")

    def test_what_is_left_of_former_runs_is_not_counted_and_too_much_of_it_is_told(self):
        for version in ("v1", "v2"):
            group = self.group(version, usage=6 * MB)
            self.assertTrue(group.is_clean())
            self.put("usage", 36 * MB)
            self.assertEqual(group.memory(0), 30 * MB)
            self.assertFalse(group.is_clean())

    def test_events_and_cpu_time_are_those_since_the_worker_was_parked(self):
        for version in ("v1", "v2"):
            group = self.group(version, kills=self.KILLS[version].format(2), refusals="max 4\n", cpu=self.CPU[version].format(70))
            group.settle()
            self.assertEqual((group.events(), group.cpu_ms()), (run_group.Counts(0, 0, 0), 0.0))
            self.put("kills", self.KILLS[version].format(3))
            self.put("refusals", "max 9\n")
            self.put("cpu", self.CPU[version].format(170))
            events = group.events()
            self.assertEqual((events.kills, events.refusals, group.cpu_ms()), (1, 5, 100.0))

    def test_limits_are_written_where_they_differ(self):
        group = self.group("v2")
        with mock.patch.object(os, "pwrite", wraps=os.pwrite) as written:
            for limits in ((64, 16, 8), (64, 16, 8), (64, 16, 9)):
                group.limit(*limits)
        self.assertEqual([call.args[1] for call in written.call_args_list], [b"%d" % (80 * MB), b"8", b"9"])


class Discovery(unittest.TestCase):
    def test_a_cgroup_is_found_below_the_mount_that_shows_it(self):
        self.assertEqual(cgroup_place.folder_of("/", "/sys/fs/cgroup", "/a/b"), "/sys/fs/cgroup/a/b")
        self.assertEqual(cgroup_place.folder_of("/docker/1", "/sys/fs/cgroup", "/docker/1"), "/sys/fs/cgroup")
        with self.assertRaisesRegex(cgroup_place.Unavailable, "not below /sys/fs/cgroup"):
            cgroup_place.folder_of("/docker/1", "/sys/fs/cgroup", "/docker/2")

    def test_what_is_missing_is_told(self):
        with self.assertRaisesRegex(cgroup_place.Unavailable, "no cgroup file system with a memory controller"):
            cgroup_place._find_v1([], {"memory": "/"})


class FreeMemory(unittest.TestCase):
    """Of cgroups, from files that look as the kernel's do."""

    FIGURES = {
        "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file {}\ntotal_active_file {}", str(1 << 63)),
        "cgroup2": ("memory.max", "memory.current", "inactive_file {}\nactive_file {}", "max"),
    }

    def free(self, kind, *groups):
        """`groups`: limit, usage and file contents of each, in MB, from the outermost on."""
        with tempfile.TemporaryDirectory() as point:
            folder, (limit, usage, stat, unlimited) = point, self.FIGURES[kind]
            for most, used, files in groups:
                folder = f"{folder}/in"
                os.mkdir(folder)
                texts = {limit: unlimited if most is None else most * MB, usage: used * MB, "memory.stat": stat.format(files * MB, 1)}
                for name, text in texts.items():
                    with open(f"{folder}/{name}", "w", encoding="ascii") as file:
                        file.write(f"{text}\n")
            mounts = [("cgroup2", "/", "/nowhere", []), (kind, "/", point, ["rw", "memory"])]
            own = dict.fromkeys(("", "memory"), folder.removeprefix(point) or "/")
            with mock.patch.object(cgroup_place, "mounts", lambda: mounts), mock.patch.object(cgroup_place, "own_cgroups", lambda: own):
                return free_memory.free() // MB

    def test_is_that_of_the_cgroup_with_least_and_files_count_as_free(self):
        for kind in self.FIGURES:
            self.assertEqual(self.free(kind, (64, 48, 0), (None, 40, 0), (32, 20, 0)), 12)
            self.assertEqual(self.free(kind, (48, 44, 0), (32, 20, 0)), 4)
            self.assertEqual(self.free(kind, (32, 30, 10)), 12)

    def test_is_that_of_the_machine_without_limits(self):
        here = free_memory._of_machine() // MB
        for kind in self.FIGURES:
            self.assertAlmostEqual(self.free(kind, (None, 40, 0)), here, delta=here // 2)
            self.assertAlmostEqual(self.free(kind), here, delta=here // 2)


if __name__ == "__main__":
    unittest.main()
