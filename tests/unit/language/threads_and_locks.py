import asyncio
import math
import queue
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, as_completed
from concurrent.futures.thread import BrokenThreadPool

condition, began, seen = threading.Condition(), threading.Event(), []


def waits_deep():
    with condition, condition:
        began.set()
        seen.append(condition.wait(10))


waits = threading.Thread(target=waits_deep)
waits.start()
began.wait()
with condition:
    condition.notify()
waits.join()
print("let go as often as it was taken", seen)
for use in (condition.notify, condition.notify_all, condition.wait):
    try:
        use()
    except RuntimeError as error:
        print(error)

lock, seen = threading.RLock(), []


def lets_go():
    try:
        lock.release()
    except RuntimeError as error:
        seen.append(str(error))


try:
    lock.release()
except RuntimeError as error:
    print(error)
with lock:
    other = threading.Thread(target=lets_go)
    other.start()
    other.join()
lock.acquire()
lock.acquire()
lock.release()
other = threading.Thread(target=lambda: seen.append(lock.acquire(blocking=False)))
other.start()
other.join()
print(seen)
try:
    threading.Semaphore(1).release(0)
except ValueError as error:
    print(error)


async def takes_again():
    with lock:
        await asyncio.sleep(0.001)
        return threading.current_thread() is threading.main_thread()


async def two():
    return await asyncio.gather(takes_again(), takes_again())


print(asyncio.run(two()))

barrier = threading.Barrier(2)
try:
    barrier.wait(timeout=0.01)
except threading.BrokenBarrierError:
    print("broken", barrier.broken, barrier.n_waiting)
try:
    barrier.wait()
except threading.BrokenBarrierError:
    print("still")
barrier.reset()
print(barrier.broken, barrier.parties)
meets = [threading.Thread(target=lambda: seen.append(barrier.wait() >= 0)) for _ in range(4)]
for each in meets: each.start()
for each in meets: each.join()
print(seen)


def fails():
    raise KeyError("action")


def meet():
    try:
        barrier.wait()
    except (threading.BrokenBarrierError, KeyError) as error:
        seen.append(type(error).__name__)


seen.clear()
barrier = threading.Barrier(2, action=fails, timeout=1)
meets = [threading.Thread(target=meet) for _ in range(2)]
for each in meets: each.start()
for each in meets: each.join()
print(sorted(seen), barrier.broken)

kept = threading.local()


class Kept(threading.local):
    kind = "class"

    def __init__(self, first):
        self.values = [first]

    def add(self, value):
        self.values.append(value)
        return self.values


def begin(value):
    kept.value = value


def value_of(number):
    return kept.value + number, threading.current_thread().name, threading.current_thread() is threading.main_thread()


with ThreadPoolExecutor(1, thread_name_prefix="job", initializer=begin, initargs=(5,)) as pool:
    print(list(pool.map(value_of, range(2))), hasattr(kept, "value"))
with ThreadPoolExecutor(1, initializer=fails) as pool:
    try:
        pool.submit(print).result()
    except BrokenThreadPool as error:
        print(error)
own = Kept(1)
seen = [own.add(2)]
other = threading.Thread(target=lambda: seen.append(own.add(3)))
other.start()
other.join()
print(seen, own.values, own.kind, vars(own))
del own.values
print(hasattr(own, "values"))
kept.value = 7


async def of_the_thread():
    await asyncio.sleep(0)
    return kept.value, threading.current_thread().name


async def in_a_task():
    return await asyncio.create_task(of_the_thread())


print(asyncio.run(in_a_task()))


def in_another():
    kept.value = 8
    seen.append(asyncio.run(in_a_task()))


other = threading.Thread(target=in_another, name="Other")
other.start()
other.join()
print(seen[-1])

done, gate = [], threading.Event()


def slow(number):
    gate.wait()
    done.append(number)


async def leaves_jobs():
    asyncio.get_running_loop().run_in_executor(None, slow, 1)
    try:
        await asyncio.wait_for(asyncio.to_thread(slow, 2), 0.001)
    except asyncio.TimeoutError:
        done.append("late")
    gate.set()


asyncio.run(leaves_jobs())
print(done[0], sorted(done[1:]))


async def in_no_time():
    return await asyncio.wait_for(asyncio.sleep(0.001, 1), math.inf)


print(asyncio.run(in_no_time()))
timer = threading.Timer(60, print)
timer.start()
timer.cancel()
timer.join()
print(timer.is_alive())
for value in (5, "a", None, [1]):
    try:
        vars(value)
    except TypeError as error:
        print(error)
with ThreadPoolExecutor(1) as pool:
    try:
        list(pool.map(lambda _: time.sleep(0.03), range(4), timeout=0.05))
    except TimeoutError:
        print("for all together")


class Worker(threading.Thread):
    def __init__(self):
        super().__init__()
        self._state = "idle"

    def run(self):
        self._state = "done"


worker = Worker()
worker.start()
worker.join()
print(worker._state)


async def adds(a, b):
    await asyncio.sleep(0.001)
    return a + b


async def from_another_thread():
    loop, told = asyncio.get_running_loop(), []

    def asks():
        told.append(asyncio.run_coroutine_threadsafe(adds(1, 2), loop).result(timeout=10))
        try:
            asyncio.run_coroutine_threadsafe(adds(1, "2"), loop).result()
        except TypeError as error:
            told.append(type(error).__name__)

    await asyncio.to_thread(asks)
    return told


print(asyncio.run(from_another_thread()))


async def with_a_handler():
    loop, told = asyncio.get_running_loop(), []
    loop.set_exception_handler(lambda loop, context: told.append(type(context["exception"]).__name__))
    loop.call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return told


print(asyncio.run(with_a_handler()))
loop = asyncio.new_event_loop()
loop.call_later(0.001, loop.stop)
loop.run_forever()
loop.close()
print("stopped")
named = threading.Thread(target=print, name="first", daemon=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # these are the older names
    named.setName("second")
    print(named.getName(), named.name, named.isDaemon(), named.daemon)
    named.setDaemon(False)
print(named.daemon)
began, gate = threading.Event(), threading.Event()


def of_itself():
    try:
        threading.current_thread().join()
    except RuntimeError as error:
        seen.append(str(error))
    began.set()
    gate.wait()


seen.clear()
named = threading.Thread(target=of_itself)
named.start()
began.wait()
try:
    named.daemon = True
except RuntimeError as error:
    print(error, seen)
gate.set()
named.join()
items = queue.Queue()
items.put(1)
items.put(2)
with items.mutex:
    print(list(items.queue), threading.main_thread().is_alive())
    items.queue.clear()
print(items.empty())
gate.clear()
with ThreadPoolExecutor(1) as pool:
    try:
        list(as_completed([pool.submit(gate.wait), pool.submit(int)], timeout=0.01))
    except TimeoutError as error:
        print(error)
    gate.set()


def told(action):
    try:
        return action()
    except Exception as error:
        return type(error).__name__


if sys.version_info >= (3, 13):
    closing = queue.Queue(1)
    closing.put(1)
    with ThreadPoolExecutor() as pool:
        blocked = pool.submit(told, lambda: closing.put(2))
        time.sleep(0.01)
        closing.shutdown()
        print(blocked.result(), told(lambda: closing.put_nowait(3)), told(closing.get), told(closing.get), closing.is_shutdown)
        closing = queue.PriorityQueue()
        closing.put(1)
        joined = pool.submit(closing.join)
        time.sleep(0.01)
        closing.shutdown(immediate=True)
        print(joined.result(), told(closing.get), told(lambda: closing.get(timeout=1)))
# The older names, which programs still use; CPython warns of them on standard error.
old = threading.Condition()
with old: print(old.notifyAll())
began = threading.Event()
print(began.isSet(), began.set(), began.isSet(), threading.currentThread().getName(), threading.activeCount())
