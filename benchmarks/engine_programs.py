"""The benchmark programs, as templates for the dialect of each engine."""

from __future__ import annotations

NOTHING = "1 + 1"
NEW = "1 + {}"

CALLS = 100
#: Sequential calls. The time of an empty program is subtracted.
SEQUENTIAL = f"""
n = 0
for i in range({CALLS}):
    n = n + {{call}}
n
"""

PARALLEL, PAUSE_S = 50, 0.02
GATHER = f"""
import asyncio
async def one(i):
    return {{call}}
async def main():
    return await asyncio.gather(*[one(i) for i in range({PARALLEL})])
{{run}}
"""
EXECUTOR = f"""
from concurrent.futures import ThreadPoolExecutor
def twice(i):
    first = {{call}}
    i = first
    return {{call}}
with ThreadPoolExecutor({PARALLEL}) as executor:
    results = list(executor.map(twice, range({PARALLEL})))
results
"""
ONE_BY_ONE = f"""
results = []
for i in range({PARALLEL}):
    results.append({{call}})
results
"""

#: Sized for smolagents' limit of 10 million operations: 10,000 steps of nbody take 9.1 million.
COMPUTE = {
    "nbody": """
bodies = [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.47], [4.84, -1.16, -0.10, 0.60, 2.81, -0.02, 0.03],
          [8.34, 4.12, -0.40, -1.01, 1.82, 0.008, 0.01], [12.89, -15.11, -0.22, 1.08, 0.86, -0.01, 0.001]]
def advance(steps, dt):
    n = len(bodies)
    for step in range(steps):
        for i in range(n):
            a = bodies[i]
            for j in range(i + 1, n):
                b = bodies[j]
                dx = a[0] - b[0]
                dy = a[1] - b[1]
                dz = a[2] - b[2]
                d2 = dx * dx + dy * dy + dz * dz
                mag = dt / (d2 * d2 ** 0.5)
                am = a[6] * mag
                bm = b[6] * mag
                a[3] = a[3] - dx * bm
                a[4] = a[4] - dy * bm
                a[5] = a[5] - dz * bm
                b[3] = b[3] + dx * am
                b[4] = b[4] + dy * am
                b[5] = b[5] + dz * am
        for a in bodies:
            a[0] = a[0] + dt * a[3]
            a[1] = a[1] + dt * a[4]
            a[2] = a[2] + dt * a[5]
advance(10000, 0.001)
round(bodies[0][0], 9)
""",
    "fannkuch": """
def fannkuch(n):
    p = list(range(n))
    q = [0] * n
    count = [0] * n
    most = 0
    r = n
    while True:
        while r != 1:
            count[r - 1] = r
            r = r - 1
        q = p[:]
        flips = 0
        k = q[0]
        while k != 0:
            q[:k + 1] = q[k::-1]
            flips = flips + 1
            k = q[0]
        if flips > most:
            most = flips
        while True:
            if r == n:
                return most
            first = p[0]
            for i in range(r):
                p[i] = p[i + 1]
            p[r] = first
            count[r] = count[r] - 1
            if count[r] > 0:
                break
            r = r + 1
fannkuch(8)
""",
    "text": """
words = {}
line = "the quick brown fox jumps over the lazy dog and then some more words follow here"
for n in range(6000):
    for word in line.split(" "):
        key = word.strip().lower()
        words[key] = words.get(key, 0) + len(word)
        if key.startswith("f"):
            words[key] = words[key] + 1
ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
len(ranked)
""",
    "objects": """
class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def moved(self, dx, dy):
        return Point(self.x + dx, self.y + dy)
    def length(self):
        return self.x * self.x + self.y * self.y
class Path:
    def __init__(self):
        self.points = []
        self.total = 0
    def add(self, point):
        self.points.append(point)
        self.total = self.total + point.length()
path = Path()
point = Point(0, 0)
for n in range(30000):
    point = point.moved(n % 3, 1)
    if point.y > 100:
        point.y = 0
    path.add(point)
path.total
""",
}

RECORDS = 126_000
#: About 10 MB as JSON.
LARGE = f"""
[{{"id": n, "name": "record number " + str(n), "active": n % 2 == 0, "score": n / 8}} for n in range({RECORDS})]
"""
