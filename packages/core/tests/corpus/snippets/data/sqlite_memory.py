import sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INT)")
db.executemany("INSERT INTO people (name, age) VALUES (?, ?)", [("Ada", 36), ("Bob", 25), ("Cy", 41)])
for row in db.execute("SELECT name, age FROM people WHERE age > :age ORDER BY age", {"age": 30}):
    print(row)
print(db.execute("SELECT count(*), avg(age), group_concat(name) FROM people").fetchone(), db.total_changes)
try:
    db.execute("SELECT nothing FROM people")
except sqlite3.OperationalError as error:
    print(error)
