import webbrowser
try:
    webbrowser.get("no-such-browser")
except webbrowser.Error as error:
    print(error)
