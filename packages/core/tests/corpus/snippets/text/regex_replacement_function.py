import re
def scale(match):
    return str(int(match[0]) * 2)
print(re.sub(r"\d+", scale, "3 apples and 10 pears"), re.subn("a", "b", "banana"))
pattern = re.compile(r"""
    (\d+)      # number
    \s*
    (kg|g)     # unit
""", re.VERBOSE)
print(pattern.findall("5 kg 300g"), re.match(r"\w+", "größe").group(), re.match(r"\w+", "größe", re.ASCII).group())
