import curses
try:
    curses.initscr()
except curses.error as error:
    print(error)
