"""The processes that run Python, from the fork server to the script, and the messages between them."""
