# long: true
import ensurepip, os, subprocess, sys, sysconfig, venv
print(bool(ensurepip.version()))
class Builder(venv.EnvBuilder):
    def post_setup(self, context): print(os.path.basename(context.env_dir), os.path.basename(context.env_exe), os.path.relpath(context.bin_path, context.env_dir))
Builder(symlinks=True, clear=True, prompt="mine").create("made")
print(sorted(os.listdir("made")), [line.split(" = ")[0] for line in open("made/pyvenv.cfg")])
for code in ("import sys; print(sys.prefix != sys.base_prefix, sys.path[-1].endswith('site-packages'))", "import sysconfig; print(sysconfig.get_path('purelib').startswith(__import__('sys').prefix))"):
    print(subprocess.run(["made/bin/python", "-c", code], capture_output=True, text=True))
print(subprocess.run(". made/bin/activate && command -v python | tail -c 17 && echo $VIRTUAL_ENV_PROMPT && deactivate && echo ${VIRTUAL_ENV:-none}", shell=True, capture_output=True, text=True).stdout)
venv.create("made", system_site_packages=True, clear=True, symlinks=True)
print("include-system-site-packages = true" in open("made/pyvenv.cfg").read(), sysconfig.get_default_scheme(), sys.prefix != sys.base_prefix)
