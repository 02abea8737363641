name, value, when = "Ada", 1234.5678, {"a": [1, 2]}
print(f"{name!r:>10}|{value:,.2f}|{value:e}|{value:10.1f}|{42:08b}|{255:#x}|{0.256:.1%}")
print(f"{when['a'][0]=} {value=:.1f} {name.upper()=!s}")
print(f"{'nested':{'*'}^{20}}")
print("{0} {1} {0} {key}".format(1, 2, key="k"), "%5.2f|%-8s|%+d|%x" % (3.14159, "left", 5, 255))
