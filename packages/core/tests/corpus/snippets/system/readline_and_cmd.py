# stdin: "greet Bob\nhelp\nquit\n"
import cmd, readline
class Shell(cmd.Cmd):
    prompt = "> "
    use_rawinput = False
    def do_greet(self, name):
        "greet NAME"
        print("Hello", name)
    def do_quit(self, _): return True
Shell().cmdloop("Welcome")
print(readline.get_current_history_length() >= 0)
