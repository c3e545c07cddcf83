"""Names at the top level: in loops, comprehensions, handlers, patterns, classes, after `del`."""

import math
from collections import Counter as Counted

total = 0
for i in range(5):
    total += i
    j: int = i * 2
print(total, i, j)

print([i for i in range(3)], {i: j for i in range(2)}, i)
print([[i + k for k in range(2)] for i in range(2)], i)
print([last := n for n in (1, 2)], last)
print(sum(x for x in range(4) if (seen := x) < 3), seen)
print((lambda i: i + total)(1), [f() for f in [lambda: i for i in range(3)]])

for name in ("a", "b"):
    try:
        raise KeyError(name)
    except KeyError as error:
        print("caught", error)
try:
    error
except NameError as missing:
    print(missing)

while total:
    total -= 5
    if total < 3:
        del total
        break
try:
    total
except NameError as missing:
    print(missing)


def reads():
    return i, math.pi > 3


def writes():
    global i, fresh
    i, fresh = 99, "new"


for _ in range(2):
    writes()
    print(i, fresh, reads())


class Box:
    i = i + 1
    items = [i for i in range(2)]
    total = sum(n for n in items)

    def get(self):
        return i


print(Box.i, Box.items, Box.total, Box().get())

for shape in ([1, 2], {"k": 3}, "text"):
    match shape:
        case [first, *rest]:
            print(first, rest)
        case {"k": value, **others}:
            print(value, others)
        case whole:
            print(whole)

for import_again in range(2):
    from math import sqrt as root
print(root(16), Counted("aab")["a"])

for max in (1, 2):
    pass
print(max)
del max
print(max(3, 4))

print(sorted(n for n in globals() if n in ("i", "root", "total", "fresh")))
print(locals()["i"], "value" in vars())
print(__doc__, (lambda: __doc__)(), __name__)
