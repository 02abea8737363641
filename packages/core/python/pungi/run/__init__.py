"""The processes that run Python, from the fork server to the script, and what they say to each other."""
