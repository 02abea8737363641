# env: {"API_KEY": "secret", "DEBUG": "1"}
import os
print(os.environ["API_KEY"], bool(os.getenv("DEBUG")))
