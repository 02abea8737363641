import compileall, os, subprocess, sys, zipapp
os.mkdir("app"); open("app/__main__.py", "w").write("print('app runs')\n")
print(compileall.compile_dir("app", quiet=1))
zipapp.create_archive("app", "app.pyz")
print(subprocess.check_output([sys.executable, "app.pyz"], text=True))
