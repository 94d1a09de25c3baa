import type { Program } from './typical-programs.js'

/** Programs with tasks, timers and synchronization. */
export const asyncioPrograms: readonly Program[] = [
  [
    'gather and results by name',
    [
      String.raw`
import asyncio
names = ["ada", "bob", "cy"]
got = dict(zip(names, await asyncio.gather(*(get(n) for n in names))))
for n, r in got.items(): await get(a=[n, r])`,
    ],
  ],
  [
    'as_completed with timeout',
    [
      String.raw`
import asyncio
async def one(n):
    r = await get(n)
    await asyncio.sleep(0.01 * (n % 3))
    return r["a"]
try:
    for c in asyncio.as_completed([one(n) for n in range(9)], timeout=30):
        await get({"a": await c})
except asyncio.TimeoutError: print("late")`,
    ],
  ],
  [
    'as_completed that times out',
    [
      String.raw`
import asyncio
async def slow(n):
    await asyncio.sleep(n)
    return n
done = []
try:
    for c in asyncio.as_completed([slow(n) for n in (0.2, 5, 0.1, 9)], timeout=2):
        done.append(await c); await get(a=done)
except TimeoutError: await get(a="timed out")
await get(a=len(asyncio.all_tasks()))`,
    ],
  ],
  [
    'wait first completed',
    [
      String.raw`
import asyncio
pending = {asyncio.create_task(get(n), name=f"t{n}") for n in range(8)}
while pending:
    done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED, timeout=20)
    for t in done: await get(a=[t.get_name(), t.result()])`,
    ],
  ],
  [
    'task group that fails',
    [
      String.raw`
import asyncio
async def job(n):
    await get(n)
    if n == 2: raise ValueError(n)
    await asyncio.sleep(3)
    await get(a=["after", n])
try:
    async with asyncio.TaskGroup() as group:
        for n in range(5): group.create_task(job(n))
except* ValueError as e: await get(a=[str(x) for x in e.exceptions])`,
    ],
  ],
  [
    'semaphore pool',
    [
      String.raw`
import asyncio
s = asyncio.Semaphore(3)
out = []
async def w(n):
    async with s:
        r = await get(n); out.append(r["a"])
        await asyncio.sleep(0)
    await get(a=list(out))
await asyncio.gather(*map(w, range(10)))`,
    ],
  ],
  [
    'queue and workers',
    [
      String.raw`
import asyncio
q = asyncio.Queue(maxsize=3)
seen = []
async def producer():
    for n in range(12): await q.put(n)
    for _ in range(4): await q.put(None)
async def worker(name):
    while (n := await q.get()) is not None:
        r = await get(a={"worker": name, "n": n}); seen.append((name, n))
await asyncio.gather(producer(), *(worker(f"w{i}") for i in range(4)))
await get(a=seen)`,
    ],
  ],
  [
    'retry with backoff and jitter',
    [
      String.raw`
import asyncio, random
async def flaky(n, tries=[0]):
    tries[0] += 1
    r = await get(a=n, b=tries[0])
    if random.random() < 0.7: raise RuntimeError(f"try {tries[0]}")
    return r
async def retry(n):
    for i in range(6):
        try: return await flaky(n)
        except RuntimeError as e:
            pause = 0.05 * 2 ** i + random.uniform(0, 0.1)
            await get(a=[n, i, str(e), pause]); await asyncio.sleep(pause)
print(await asyncio.gather(*(retry(n) for n in range(4))))`,
    ],
  ],
  [
    'timeouts and cancel',
    [
      String.raw`
import asyncio
async def long(n):
    try:
        await asyncio.sleep(n); return n
    except asyncio.CancelledError:
        await get(a=["cancelled", n]); raise
    finally: await get(a=["finally", n])
try: await asyncio.wait_for(long(50), 1.5)
except TimeoutError: await get("t1")
t = asyncio.create_task(long(60)); await asyncio.sleep(0.1); t.cancel()
try: await t
except asyncio.CancelledError: await get("c1")
try:
    async with asyncio.timeout(5): await get(1)
except TimeoutError: await get("t5")
r = await asyncio.gather(long(0.1), long(0.05), asyncio.sleep(0.2, "x"), return_exceptions=True)
await get(a=[repr(each) for each in r])
r = await asyncio.gather(get(1), asyncio.shield(get(2)), asyncio.wait_for(get(3), 9), return_exceptions=True)
await get(a=[repr(each) for each in r])`,
    ],
  ],
  [
    'events, conditions, locks, barriers',
    [
      String.raw`
import asyncio
e, l, c, b = asyncio.Event(), asyncio.Lock(), asyncio.Condition(), asyncio.Barrier(3)
log = []
async def waiter(n):
    await e.wait()
    async with l: log.append(n); await get(n)
    await b.wait(); await get(a=list(log))
    async with c: await c.wait(); log.append(f"c{n}")
async def boss():
    await get("boss"); e.set()
    while len(log) < 6:
        await asyncio.sleep(1.5)
        async with c: c.notify()
await asyncio.gather(*(waiter(n) for n in range(3)), boss())
await get(a=log)`,
    ],
  ],
  [
    'polling with a deadline by each clock',
    [
      String.raw`
import asyncio, time
for now in (time.time, asyncio.get_running_loop().time):
    end = now() + 3
    n = 0
    while now() < end:
        n += 1; await get(a=[now.__name__, n]); await asyncio.sleep(0.4)
deadline = time.monotonic() + 5; n = 0
while time.monotonic() < deadline:
    n += 1; await get(a=["m", n]); await asyncio.sleep(2)`,
    ],
  ],
  [
    'background tasks shared by cells',
    [
      String.raw`
import asyncio
async def heartbeat():
    for n in range(6):
        await get(a=["beat", n]); await asyncio.sleep(1.5)
beat = asyncio.create_task(heartbeat())
await get("first")`,
      String.raw`
await asyncio.sleep(2.5); await get("second")`,
      String.raw`
await beat; beat.result(); print("done")`,
    ],
  ],
  [
    'asyncio.run in a plain cell',
    [
      String.raw`
import asyncio
async def main():
    return await asyncio.gather(*(get(n) for n in range(3)))
r = asyncio.run(main())
print(r)`,
      String.raw`
loop = asyncio.get_event_loop(); print(loop.run_until_complete(main()))`,
    ],
  ],
  [
    'own event loops, with unfinished tasks',
    [
      String.raw`
import asyncio
async def beat(name):
    for n in range(9):
        await get(a=[name, n]); await asyncio.sleep(1.5)
async def main(name):
    tasks = [asyncio.create_task(beat(name))]
    return [await get(name), await get(a="second"), [t.get_name() for t in tasks]]
print(asyncio.run(main("run")))
with asyncio.Runner() as runner: print(runner.run(main("one")), runner.run(main("two")))
loop = asyncio.new_event_loop()
print(loop.run_until_complete(main("loop")))`,
      String.raw`
await asyncio.sleep(4); await get("cell")`,
      String.raw`
print(loop.run_until_complete(main("again"))); print(len(asyncio.all_tasks(loop))); loop.close()`,
    ],
  ],
  [
    'timers at the same moment',
    [
      String.raw`
import asyncio
log = []
async def t(name, s): await asyncio.sleep(s); log.append(name); await get(a=[name, len(log)])
await asyncio.gather(t("a", 1.2), t("b", 1.2), t("c", 0.6), t("d", 0.6 + 0.6), t("e", 0), get("x"), t("f", 30))
loop = asyncio.get_running_loop(); f = loop.create_future(); loop.call_later(0.3, f.set_result, 5); loop.call_soon(log.append, "soon"); await f; await get(a=log)`,
    ],
  ],
]
