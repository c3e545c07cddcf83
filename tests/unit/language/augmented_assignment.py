d = {"a": 1}
d["a"] += 2
d["b"] = d.get("b", 0) + 1
l = [1, 2, 3]
l[0] += 10
l[1:] *= 2
x = 5
x //= 2; x **= 3; x |= 1; x ^= 3; x <<= 2; x >>= 1; x %= 7; x -= 1
s = {1}
s |= {2}
s &= {2, 3}
class O: pass
o = O()
o.n = 1
o.n += 4
o.items = []
o.items += [1]
def once(calls=[]):
    calls.append(1)
    return calls
e = [[0], [0]]
e[len(once()) - 1][0] += 7
t = "a"
t += "b"
m = [[1, 2], [3, 4]]
m[1][0] -= 1
print(d, l, x, s, o.n, o.items, e, t, m)
