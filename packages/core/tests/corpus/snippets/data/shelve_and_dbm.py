import dbm.dumb, shelve
with shelve.open("store") as shelf:
    shelf["list"] = [1, 2, 3]
    shelf["dict"] = {"a": None}
with shelve.open("store") as shelf:
    print(sorted(shelf), shelf["list"])
with dbm.dumb.open("dumb", "c") as db:
    db["k"] = "v"
    print(db["k"], list(db.keys()))
