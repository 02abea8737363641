# packages: ["jinja2", "tabulate"]
import importlib.metadata, importlib.resources, shutil, sys, os
print(importlib.metadata.version("jinja2") != "", "tabulate" in [d.metadata["Name"] for d in importlib.metadata.distributions()])
print(shutil.which("tabulate") == os.path.join(os.path.dirname(sys.executable), "tabulate"))
import jinja2; print(jinja2.__file__.startswith(sys.prefix), sys.prefix == os.environ.get("VIRTUAL_ENV"))
