import itertools as it, operator
print(list(it.chain("ab", [1])), list(it.accumulate([1, 2, 3], operator.mul)), list(it.combinations("abc", 2)))
print([(k, len(list(g))) for k, g in it.groupby("aaabbc")], list(it.product([0, 1], repeat=2)), list(it.islice(it.count(5, 2), 3)))
print(list(it.zip_longest("ab", "xyz", fillvalue="-")), list(it.pairwise("abcd")), list(it.starmap(pow, [(2, 3)])), list(it.takewhile(lambda x: x < 3, [1, 2, 5, 1])))
