# python: 11
import configparser, sys, tomllib
config = configparser.ConfigParser()
config.read_string("[DEFAULT]\ndebug = yes\n[server]\nport = 8080\npath = %(root)s/x\nroot = /srv\n")
print(config.sections(), config["server"].getint("port"), config["server"].getboolean("debug"), config["server"]["path"])
config["new"] = {"k": "v"}
config.write(sys.stdout)
print(tomllib.loads('title = "x"\n[a.b]\nwhen = 2024-01-02\nlist = [1, 2]'))
