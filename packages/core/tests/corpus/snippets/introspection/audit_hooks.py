import sys
seen = []
def hook(event, arguments):
    if event in ("open", "subprocess.Popen", "import") and len(seen) < 50: seen.append((event, str(arguments[0])[:30]))
sys.addaudithook(hook)
open("main.py").close()
import colorsys
compile("1", "x", "eval")
print([each for each in seen if each[0] == "open"][0], ("import", "colorsys") in seen)
