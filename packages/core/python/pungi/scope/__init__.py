"""What code may import and call under a profile: before it runs, by its syntax tree, and while it runs."""
