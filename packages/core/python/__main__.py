import importlib
import sys

# Imported by name: a fork server must not carry the modules of the other roles into its workers.
ROLES = {
    "fork-server": "pungi.run.fork_server", "spawn": "pungi.spawn.supervisor", "spawn-worker": "pungi.spawn.worker",
    "lock-holder": "pungi.tools.lock_holder", "tool": "pungi.tools.tool", "venv": "pungi.tools.venv_tree",
}

importlib.import_module(ROLES[sys.argv[1]]).main()
