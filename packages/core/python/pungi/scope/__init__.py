"""The scope of a profile: what code may import and call, checked before it runs, by its syntax tree, and while it runs."""
