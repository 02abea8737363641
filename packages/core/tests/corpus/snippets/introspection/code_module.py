import code, codeop
console = code.InteractiveConsole({"x": 5})
for line in ("y = x * 2", "print(y)", "for i in range(2):", "    print(i)", ""):
    console.push(line)
console.push("1/0")
print(codeop.compile_command("if x:") is None)
