import os, subprocess, sys, venv
venv.create("env", with_pip=False)
python = os.path.join("env", "bin", "python")
print(os.access(python, os.X_OK), subprocess.check_output([python, "-c", "import sys; print(sys.prefix != sys.base_prefix)"], text=True))
print(sorted(name for name in os.listdir("env/bin") if name.startswith("activate")))
