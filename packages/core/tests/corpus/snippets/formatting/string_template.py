from string import Template, Formatter, capwords
print(Template("$who likes ${what}s, costs $$5").substitute(who="Tim", what="snake"))
print(Template("$missing").safe_substitute())
print([part[:2] for part in Formatter().parse("a{b}c{d!r:>3}")], capwords("hello wide world"))
try:
    Template("$x").substitute()
except KeyError as error:
    print("KeyError", error)
