import io, keyword, symtable, token, tokenize
for item in tokenize.generate_tokens(io.StringIO("x = 1 # c\n").readline):
    print(token.tok_name[item.type], repr(item.string))
print(keyword.iskeyword("match"), keyword.softkwlist[:2], symtable.symtable("def f(a): b = a", "x", "exec").get_children()[0].get_locals())
