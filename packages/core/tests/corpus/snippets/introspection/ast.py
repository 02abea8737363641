import ast
tree = ast.parse("def f(x):\n    return x * 2 + 1\n\nprint(f(3))")
class Doubler(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.copy_location(ast.Constant(node.value * 2), node)
print(ast.unparse(Doubler().visit(tree)))
print(ast.dump(ast.parse("a + b", mode="eval"), indent=1), ast.literal_eval("{'a': [1, (2,)]}"))
exec(compile(ast.fix_missing_locations(tree), "<tree>", "exec"))
