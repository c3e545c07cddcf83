print(abs(-1), all([]), any([0, 1]), ascii("é"), bin(5), bool([]), bytes([65]), bytearray(b"a"), chr(97), complex(1, 2), divmod(7, 2))
print(list(enumerate("ab", 1)), list(filter(None, [0, 1])), float("1.5"), format(3.14159, ".2f"), frozenset([1]), hash(1), hex(255), int("ff", 16), int(3.9), isinstance(1, (int, str)))
print(len("abc"), list(map(str, [1])), max([1, 3]), max("a", "bb", key=len), min([2, 1], default=0), min([], default=None), next(iter([1]), None), oct(8), ord("a"), pow(2, 10, 7), list(range(5, 0, -2)))
print(repr("a'b"), list(reversed([1, 2])), round(2.567, 2), round(2.5), round(-1.5), set("aab") == {"a", "b"}, slice(1, 2), sorted([3, 1], reverse=True), sorted("bA", key=str.lower), str(1.0), sum([1, 2], 10), tuple("ab"), list(zip("ab", [1, 2], strict=True)))
print(type(1), type(1) is int, type("") == str, type([]).__name__, type(type(1)), isinstance(int, type), type(None), int.__name__, type(lambda: 0).__name__, type({}.keys()).__name__)
print(dict(a=1, **{"b": 2}), dict([("x", 1)]), {"a": 1} | {"b": 2}, {"a": 1}.items(), list({"a": 1}.values()), {"a": {"b": 1}}.get("a", {}).get("b"), {}.setdefault("k", []), dict.fromkeys("ab", 0))
d = {"a": 1, "b": 2}
d.update(c=3); d.pop("a"); del d["b"]
print(d, "c" in d, list(d), [*d], {**d}, dict(sorted({"b": 1, "a": 2}.items())), max({"a": 1, "b": 5}.items(), key=lambda kv: kv[1]))
l = [3, 1, 2]
l.sort(); l.append(4); l.extend([5]); l.insert(0, 0); l.remove(3); l.reverse()
print(l, l.index(1), l.count(1), l.pop(), l[:2], l[-1:], l * 2, l + [9], l.copy(), [1, [2, [3]]][1][1])
s = "Hello, World"
print(s.upper(), s.lower(), s.split(", "), s.replace("l", "L", 1), s.find("o"), s.startswith("He"), s.strip("Hd"), s[::-1], s.center(20, "*"), s.partition(","), s.title(), s.swapcase(), s.zfill(15), "a,b".rsplit(",", 1), "-".join(["a", "b"]), s.count("l"), "abc".isalpha(), "12".isdigit(), "a b".split(), s.encode(), "x".ljust(3) + "|", "tab\tx".expandtabs(4), s.casefold(), "é".encode("utf-8"), b"\xc3\xa9".decode(), s.translate(str.maketrans("lo", "01")), s.removeprefix("He"), s.isupper(), "a\nb".splitlines())
print({1, 2} | {3}, {1, 2} & {2}, {1, 2} - {1}, {1} ^ {2}, {1} <= {1, 2}, {1}.isdisjoint({2}), sorted({3, 1}), frozenset({1}) in {frozenset({1})})
print(1 / 3, 7 // 2, -7 // 2, 7 % 3, 2 ** 100, 0.1 + 0.2, 1e3, 1_000, 0xff, 0b11, 1j * 1j, float("inf") > 1, 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, not 0, (5).bit_length(), (3.0).is_integer(), int.from_bytes(b"\x01", "big"), round(1e10))
x, y = 1, 2
x, y = y, x
print(x, y, x if x > y else y, bool(x) and not y, [] or "empty", (1,), ())
print(r"\n", b"bytes", "a" "b", """multi
line""", "\u00e9", "\x41", "\N{BULLET}")
it = iter([1, 2, 3])
print(next(it), list(it), next(it, "end"))
print([[0] * 3 for _ in range(2)], [x for row in [[1, 2], [3]] for x in row], {i: i ** 2 for i in range(3)}, [(a, b) for a in "ab" for b in (1, 2)])
print(callable(print), hasattr("", "upper"), getattr("a", "upper")(), id(x) == id(x), sorted(dir([]))[-1], "upper" in dir(""))
print("x" in locals(), "undefined" in locals(), "x" in globals(), sorted(k for k in locals() if k in ("x", "y")))
def f():
    a = 1
    return locals()
print(f(), NotImplemented, ..., Ellipsis is ..., None)
print(str(b"a"), str(["a", 1]), repr({"a": (1,)}), str(None), str(True), f"{None} {True}")
print(*[1, 2], sep=",")
print(print("inner"))
try:
    [].x
except AttributeError as e:
    print(e)
try:
    {}["k"]
except KeyError as e:
    print(repr(e), e.args)
try:
    1 + "a"
except TypeError as e:
    print(e)
try:
    [1][5]
except IndexError as e:
    print(e)
try:
    int("x")
except ValueError as e:
    print(e)
try:
    undefined_name
except NameError as e:
    print(e, e.name)
import collections, traceback
try:
    1 / 0
except ZeroDivisionError:
    print(traceback.format_exc().strip().splitlines()[-1])
