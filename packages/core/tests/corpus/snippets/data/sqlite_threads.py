import sqlite3, threading
sqlite3.connect("t.db").execute("CREATE TABLE t (n)").connection.commit()
def work(n):
    with sqlite3.connect("t.db", timeout=20) as db:
        db.execute("INSERT INTO t VALUES (?)", (n,))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(sqlite3.connect("t.db").execute("SELECT n FROM t")))
