import sys
print(sys.byteorder, sys.maxsize, sys.platform, sys.implementation.name, sys.api_version, sys.maxunicode, sys.hash_info.width)
print(sys.flags.isolated, sys.flags.no_site, sys.flags.ignore_environment, sys.flags.no_user_site, sys.flags.dont_write_bytecode, sys.flags.utf8_mode, sys.flags.optimize)
print(sys.flags)
print(sys.dont_write_bytecode, sys.getswitchinterval(), sys.getrefcount(object()), sys.exec_prefix == sys.prefix, sys._xoptions, sys.pycache_prefix)
