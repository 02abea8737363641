import getpass, os, pwd, grp
me = pwd.getpwuid(os.getuid())
print(me.pw_name == getpass.getuser() == os.environ["USER"], me.pw_shell != "", os.getuid() == os.geteuid(), os.getuid() != 0)
print(grp.getgrgid(os.getgid()).gr_name != "", os.path.isabs(me.pw_dir))
try:
    pwd.getpwnam("no-such-user")
except KeyError as error:
    print(error)
