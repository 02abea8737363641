import sqlite3, os
with sqlite3.connect("app.db") as db:
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE t (x)")
    db.executemany("INSERT INTO t VALUES (?)", ((n,) for n in range(1000)))
other = sqlite3.connect("app.db")
other.row_factory = sqlite3.Row
print(other.execute("SELECT sum(x) AS total FROM t").fetchone()["total"])
print(sorted(name for name in os.listdir() if name.startswith("app")))
db.close(); other.close()
backup = sqlite3.connect("backup.db")
sqlite3.connect("app.db").backup(backup)
print(backup.execute("SELECT count(*) FROM t").fetchone())
