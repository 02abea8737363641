# stdin: "hunter2\n"
import getpass, warnings
warnings.simplefilter("ignore")
print(getpass.getpass("Password: "))
