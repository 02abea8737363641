import configparser, getpass, mimetypes, os, pathlib, shlex, string, sysconfig, sys, site, uuid, netrc, platform, shutil, textwrap
config = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation()); config.read_string("[paths]\nroot = /srv\ndata = ${root}/data\n[flags]\non = yes\nnumber = 3\n")
print(config["paths"]["data"], config.getboolean("flags", "on"), config.getint("flags", "number"), config.get("flags", "missing", fallback="none"))
home = pathlib.Path.home(); print(home == pathlib.Path(os.environ["HOME"]), pathlib.Path("~/x").expanduser() == home / "x", os.path.expandvars("$USER") == getpass.getuser())
(home / ".config").mkdir(exist_ok=True); (home / ".config" / "tool.ini").write_text("[a]\nb = 1"); print(config.read([home / ".config" / "tool.ini", "missing.ini"])[0][-8:], config["a"]["b"])
print(shlex.split("a 'b c' d\\ e"), shlex.join(["x y", "z"]), mimetypes.guess_type("a.tar.gz"), mimetypes.guess_type("a.json"), uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"), uuid.getnode() > 0)
print(pathlib.Path("a/../b").resolve().relative_to(pathlib.Path.cwd()), sorted(path.name for path in pathlib.Path(".").glob("*.py")), pathlib.Path("main.py").stat().st_size == len(open(__file__, "rb").read()), pathlib.Path(__file__).is_absolute())
print(site.ENABLE_USER_SITE, sysconfig.get_python_version(), sysconfig.get_paths()["scripts"] == os.path.dirname(sys.executable), shutil.disk_usage(".").free > 0, site.getusersitepackages().startswith(str(home)))
print(sysconfig.get_config_var("EXT_SUFFIX"), sys.base_prefix != sys.prefix, os.path.samefile(sys.executable, shutil.which("python")), sys.executable == shutil.which("python"))
try:
    netrc.netrc()
except FileNotFoundError as error:
    print(error.strerror)
config["nothing"]
