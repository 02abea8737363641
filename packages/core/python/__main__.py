import importlib
import sys

# Imported by name: a fork server must not carry the modules of the other roles into its workers.
ROLES = {
    "fork-server": "pungi.run.fork_server", "spawn": "pungi.spawn.supervisor", "spawn-worker": "pungi.spawn.worker",
    "lock-holder": "pungi.tools.lock_holder", "tool": "pungi.tools.tool",
}

if sys.argv[2:] == ["introduce"]:
    # packages/core/src/sandbox/interpreter.ts asks the same of interpreters that are no fork servers.
    build = f"{sys.implementation.name}{getattr(sys, 'abiflags', '')} {sys.version_info[3]}"
    print(sys.executable, "%d.%d.%d" % sys.version_info[:3], build, sep="\n", flush=True)
    del sys.argv[2:], build

importlib.import_module(ROLES[sys.argv[1]]).main()
