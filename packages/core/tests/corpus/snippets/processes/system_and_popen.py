import os
print(os.system("exit 3") >> 8, os.system("true"), os.popen("echo popen; exit 2").read())
print(os.waitstatus_to_exitcode(os.system("kill -TERM $$")))
