import asyncio
import time


async def work(n, delay=0.01):
    await asyncio.sleep(delay * n)
    return n * 2


async def agen(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


class Res:
    async def __aenter__(self):
        print("open")
        return self
    async def __aexit__(self, *a):
        print("close", a[0].__name__ if a[0] else None)
    def __aiter__(self):
        self.n = 0
        return self
    async def __anext__(self):
        self.n += 1
        if self.n > 2:
            raise StopAsyncIteration
        return self.n


async def producer(q, n):
    for i in range(n):
        await q.put(i)
    await q.put(None)


async def consumer(q, out):
    while (item := await q.get()) is not None:
        out.append(item)


async def boom():
    await asyncio.sleep(0.01)
    raise ValueError("boom")


async def forever():
    try:
        await asyncio.sleep(1000)
    except asyncio.CancelledError:
        print("cancelled")
        raise


async def main():
    print(await asyncio.gather(work(3), work(1), work(2)))
    t = asyncio.create_task(work(1))
    print(await t, t.done(), t.result())
    async with asyncio.TaskGroup() as tg:
        a = tg.create_task(work(1))
        b = tg.create_task(work(2))
    print(a.result(), b.result())
    try:
        async with asyncio.TaskGroup() as tg:
            tg.create_task(boom())
            tg.create_task(forever())
    except ExceptionGroup as g:
        print([str(e) for e in g.exceptions])
    try:
        await asyncio.wait_for(forever(), 0.01)
    except asyncio.TimeoutError:
        print("timeout")
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)
    except TimeoutError:
        print("timeout 2")
    sem = asyncio.Semaphore(2)
    running = peak = 0
    async def limited(i):
        nonlocal running, peak
        async with sem:
            running += 1
            peak = max(peak, running)
            await asyncio.sleep(0.001)
            running -= 1
            return i
    print(await asyncio.gather(*[limited(i) for i in range(5)]), peak)
    print([x async for x in agen(3)], [x async for x in Res()])
    async with Res() as r:
        async for x in r:
            print(x)
    q = asyncio.Queue(maxsize=2)
    out = []
    await asyncio.gather(producer(q, 4), consumer(q, out))
    print(out)
    print(await asyncio.gather(boom(), work(1), return_exceptions=True))
    done = []
    for f in asyncio.as_completed([work(3), work(1)]):
        done.append(await f)
    print(done)
    d, p = await asyncio.wait([asyncio.create_task(work(1)), asyncio.create_task(work(9))], return_when=asyncio.FIRST_COMPLETED)
    print(len(d), len(p), [t.result() for t in d])
    for t in p:
        t.cancel()
    print(await asyncio.to_thread(lambda: 5), await asyncio.shield(work(1)))
    lock = asyncio.Lock()
    async with lock:
        print(lock.locked())
    ev = asyncio.Event()
    async def waiter():
        await ev.wait()
        return "set"
    w = asyncio.create_task(waiter())
    await asyncio.sleep(0)
    ev.set()
    print(await w)
    loop = asyncio.get_running_loop()
    fut = loop.create_future()
    loop.call_later(0.001, fut.set_result, "later")
    print(await fut, await loop.run_in_executor(None, max, 1, 2))
    t = asyncio.create_task(forever())
    await asyncio.sleep(0)
    t.cancel()
    try:
        await t
    except asyncio.CancelledError:
        print("task cancelled", t.cancelled())
    cond = asyncio.Condition()
    async with cond:
        cond.notify_all()
    return "end"


print(asyncio.run(main()))
