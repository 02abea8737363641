"""Runs without a fork server: one plain interpreter for each, under a supervisor that needs nothing but processes, pipes and threads."""
