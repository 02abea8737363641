import os, sys
print("before exec", flush=True)
os.execvp("echo", ["echo", "after exec"])
