"""The Python half of Pungi: a fork server, and for every run a supervisor and a worker. Standard library only."""
