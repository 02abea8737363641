"""Runs without a fork server: one plain interpreter for each, under a supervisor that needs only processes, pipes and threads."""
