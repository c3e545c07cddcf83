def classify(x):
    match x:
        case 0 | 1:
            return "small"
        case int(n) if n < 0:
            return f"negative {n}"
        case int() | float():
            return "number"
        case "a" | "b" as letter:
            return f"letter {letter}"
        case str():
            return "text"
        case []:
            return "empty"
        case [x]:
            return f"one {x}"
        case [first, *rest]:
            return f"{first} and {len(rest)}"
        case {"type": "user", "name": str(name), **rest}:
            return f"user {name} {rest}"
        case {"k": {"inner": [_, y]}}:
            return f"inner {y}"
        case None:
            return "none"
        case Point(x=0, y=yy):
            return f"on y at {yy}"
        case Point(a, b):
            return f"point {a} {b}"
        case _:
            return "other"


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


for v in (0, -3, 2.5, "a", "zz", [], [1], [1, 2, 3], {"type": "user", "name": "n", "z": 1}, {"k": {"inner": [1, 2]}}, None, Point(0, 2), Point(1, 2), object):
    print(classify(v))
for i in range(3):
    if i == 5:
        break
else:
    print("no break")
n = 0
while True:
    n += 1
    if n % 2:
        continue
    if n > 5:
        break
else:
    print("never")
try:
    try:
        {}["x"]
    except KeyError as e:
        raise ValueError("wrapped") from e
    else:
        print("never")
    finally:
        print("finally")
except (ValueError, TypeError) as e:
    print(e, repr(e.__cause__), type(e.__cause__).__name__)
try:
    raise RuntimeError("a", 1)
except Exception as e:
    print(e.args, str(e), type(e).__name__)
try:
    int("x")
except:
    print("bare")
try:
    assert 1 == 2, "assertion"
except AssertionError as e:
    print(e)
def f():
    try:
        return "try"
    finally:
        print("cleanup")
print(f())
try:
    raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
except* ValueError as g:
    print("values", len(g.exceptions))
except* TypeError as g:
    print("types", len(g.exceptions))
try:
    raise ExceptionGroup("g", [ValueError(1)])
except ExceptionGroup as g:
    print([type(x).__name__ for x in g.exceptions])
x = 3 if n else 4
print(x, 1 < x < 5, not x, x and "y", None or "z", x is not None, "a" in "abc", 5 not in [1])
del x
try:
    print(x)
except NameError as e:
    print(e)
e = ValueError("note")
e.add_note("more")
print(e.__notes__)
for i, (a, b) in enumerate([(1, 2), (3, 4)], start=1):
    print(i, a, b)
print([(i, j) for i in range(3) for j in range(i) if i != j])
lst = list(range(10))
del lst[::2]
lst[1:3] = ["x"]
print(lst, lst[::-1], lst[-1], (1, 2) + (3,), [0] * 3, "ab" * 2)
import sys
print(sys.version_info >= (3, 11), sys.maxsize > 2**31)
if __name__ == "__main__":
    print("main")


class Stop(BaseException):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class StopNow(Stop, ValueError):
    pass


def stopping(kind):
    try:
        raise kind(3)
    except Exception as error:
        return "an exception", error.code
    except BaseException as error:
        return "another", error.code, repr(error)
    finally:
        print("left")


print(stopping(Stop), stopping(StopNow), StopNow.__mro__[1:3], Stop.__bases__)
noted = ValueError("noted")
noted.__notes__ = ["first"]
noted.add_note("second")
print(noted.__notes__)
