# python: 10
import platform
print("ID" in platform.freedesktop_os_release())
