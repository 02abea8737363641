"""The jails of runs: namespaces, landlock, system call filters, folders, and replacements for what they refuse."""
