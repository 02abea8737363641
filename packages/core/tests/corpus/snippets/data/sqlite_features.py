import collections, contextlib, datetime, sqlite3, sys
db = sqlite3.connect(":memory:")
db.row_factory = sqlite3.Row
db.executescript("create table item (id integer primary key, name text unique, price real, data blob); create index by_name on item (name);")
with db:
    db.executemany("insert into item (name, price, data) values (?, ?, ?)", [("a", 1.5, b"x"), ("b", None, None)])
try:
    with db:
        db.execute("insert into item (name) values ('c')")
        db.execute("insert into item (name) values ('a')")
except sqlite3.IntegrityError as error:
    print(error, getattr(error, "sqlite_errorname", "SQLITE_CONSTRAINT_UNIQUE"))
print([tuple(row) for row in db.execute("select * from item order by id")], db.execute("select * from item").fetchone().keys())
db.create_function("twice", 1, lambda value: value * 2, deterministic=True)
class Longest:
    def __init__(self): self.text = ""
    def step(self, text): self.text = max(self.text, text, key=len)
    def finalize(self): return self.text
db.create_aggregate("longest", 1, Longest)
print(db.execute("select twice(price), longest(name) from item").fetchone()[:], db.total_changes)
print(db.execute("with recursive n(x) as (select 1 union all select x + 1 from n where x < 5) select sum(x), json_extract('{\"a\": [1, 2]}', '$.a[1]') from n").fetchone()[:])
print(db.execute("select name, row_number() over (order by name desc) from item").fetchall()[0][:])
with contextlib.closing(sqlite3.connect("file.db")) as copy:
    db.backup(copy)
    copy.execute("pragma journal_mode = wal")
    print(copy.execute("pragma journal_mode").fetchone(), copy.execute("select count(*) from item").fetchone(), copy.execute("pragma integrity_check").fetchone())
print("\n".join(db.iterdump()))
try:
    db.execute("select nothing from item")
except sqlite3.OperationalError as error:
    print(error)
with sqlite3.connect("file:file.db?mode=ro", uri=True) as reader:
    reader.execute("delete from item")
