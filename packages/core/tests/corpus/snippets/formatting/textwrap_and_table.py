import textwrap
text = "The quick brown fox jumps over the lazy dog. " * 3
print(textwrap.fill(text, width=40, initial_indent="* ", subsequent_indent="  "))
print(textwrap.shorten(text, 30), textwrap.dedent("    a\n      b\n"), sep="\n")
rows = [("name", "qty"), ("apple", 3), ("banana", 12)]
for left, right in rows:
    print(f"{left:<10}{right:>5}")
