from collections import Counter
text = "the cat and the dog and the bird"
counts = Counter(text.split())
print(counts.most_common(2), counts["fish"], counts + Counter(["fish"]), sum(counts.values()))
print({word: len(word) for word in sorted(set(text.split()), key=lambda w: (-len(w), w))})
print("Hello World".swapcase(), "a-b-c".rpartition("-"), "x".center(5, "."), " pad ".strip(), "abc".translate(str.maketrans("ab", "xy")))
