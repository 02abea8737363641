import difflib, filecmp
a, b = ["one\n", "two\n", "three\n"], ["one\n", "tree\n", "four\n"]
print("".join(difflib.unified_diff(a, b, "old", "new")))
print(difflib.get_close_matches("appel", ["ape", "apple", "peach"]), round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 3))
open("x", "w").writelines(a); open("y", "w").writelines(a)
print(filecmp.cmp("x", "y", shallow=False))
