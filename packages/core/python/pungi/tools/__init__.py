"""Programs that run outside of runs: locks, virtual environments, compiled bytecode, installers."""
