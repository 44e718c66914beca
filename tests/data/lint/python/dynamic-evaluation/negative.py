import ast
def f(text, model):
    model.eval()
    return ast.literal_eval(text), eval("1 + 1")
