import queue
import threading
import time
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, ThreadPoolExecutor, as_completed, wait


def job(n):
    time.sleep(0.002 * n)
    if n == 4:
        raise ValueError("four")
    return n * n


with ThreadPoolExecutor(max_workers=3) as pool:
    print(list(pool.map(job, [3, 1, 2])))
    futures = {pool.submit(job, n): n for n in (1, 4, 2)}
    results = {}
    for f in as_completed(futures):
        try:
            results[futures[f]] = f.result()
        except ValueError as e:
            results[futures[f]] = str(e)
    print(sorted(results.items()))
    done, rest = wait([pool.submit(job, n) for n in (1, 2)], return_when=ALL_COMPLETED)
    print(sorted(f.result() for f in done), len(rest))
    f = pool.submit(job, 4)
    print(type(f.exception()).__name__, f.done())
lock = threading.Lock()
total = 0


def add(n):
    global total
    for _ in range(n):
        with lock:
            total += 1


threads = [threading.Thread(target=add, args=(50,)) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(total)
q = queue.Queue()
out = []


def worker():
    while True:
        item = q.get()
        if item is None:
            q.task_done()
            break
        out.append(item * 2)
        q.task_done()


ts = [threading.Thread(target=worker) for _ in range(2)]
for t in ts: t.start()
for i in range(5): q.put(i)
for _ in ts: q.put(None)
q.join()
for t in ts: t.join()
print(sorted(out), q.empty())
ev = threading.Event()
seen = []
t = threading.Thread(target=lambda: (ev.wait(), seen.append("go")))
t.start()
ev.set()
t.join()
print(seen, t.is_alive())


class Worker(threading.Thread):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.result = None

    def run(self):
        self.result = self.n ** 2


ws = [Worker(i) for i in range(3)]
[w.start() for w in ws]
[w.join() for w in ws]
print([w.result for w in ws])
s = threading.Semaphore(1)
with s:
    print("held")
try:
    queue.Queue().get_nowait()
except queue.Empty:
    print("empty")
try:
    queue.Queue().get(timeout=0.001)
except queue.Empty:
    print("empty again")
