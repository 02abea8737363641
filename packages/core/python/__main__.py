import importlib
import sys

# Imported by name: a fork server must not carry the modules of the other roles into its workers.
ROLES = {
    "fork-server": "pungi.fork_server", "spawn": "pungi.spawn.supervisor", "spawn-worker": "pungi.spawn.worker",
    "lock-holder": "pungi.lock_holder", "tool": "pungi.tool", "venv": "pungi.venv_tree",
}

importlib.import_module(ROLES[sys.argv[1]]).main()
