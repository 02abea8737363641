"""Programs beside runs: locks, virtual environments, compiled bytecode, installers."""
