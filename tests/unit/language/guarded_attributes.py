"""Private attributes and writes: through inherited methods, on objects of objects, after a variable is bound anew."""


class Node:
    def __init__(self, key, parent=None):
        self._key = key
        self.parent = parent
        self._seen = 0

    def see(self):
        self._seen += 1
        return self

    def total(self):
        """Counts."""
        return self._seen + (self.parent.total() if self.parent else 0)


class Leaf(Node):
    def __init__(self, key, parent):
        super().__init__(key, parent)
        self._leaf = True

    def see(self):
        super().see()
        self.parent._seen += 10
        self.parent.mark = self._key
        return self


root = Node("root")
leaves = [Leaf(str(n), root) for n in range(3)]
for leaf in leaves:
    leaf.see().see()
    leaf.parent.note = leaf._key * 2
    leaf.x, leaf.y = 1, 2
    leaf.x += leaf.y
print(root._seen, root.mark, root.note, [leaf.total() for leaf in leaves], sum(leaf.x for leaf in leaves))

node = leaves[0]
while node is not None:
    print(node._key, node._seen, node._leaf if node._key == "0" else "no leaf")
    node = node.parent

for value in (leaves[0], 5, "text", [1], None):
    try:
        print(value._key)
        value.flag = True
        print(value.flag)
    except AttributeError as error:
        print(type(value).__name__, error)

for method in (Node.see, Leaf.see):
    try:
        method(5)
    except (TypeError, AttributeError):
        print("not an object of the program")

print("{} {0._key}".format(1) if False else "{0._key} {1[0]} {2.real}".format(root, "ab", 3))
text = "{name:>{width}} {node.mark}"
for width in (6, 8):
    print(text.format(name="n", width=width, node=root), "{a}".format_map({"a": width}))


class Stack(list):
    def print_stack(self):
        print(self.get_stack())

    def get_stack(self):
        return list(self)

    def get_coro(self):
        return "core"


Stack("ab").print_stack()
print(Stack().get_coro(), getattr(Stack("c"), "get_stack")())
