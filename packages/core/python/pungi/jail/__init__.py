"""What keeps a run from the machine: namespaces, landlock, system call filters, folders, and what stands in for what they refuse."""
