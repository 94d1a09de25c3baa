import { fails, prints } from '../../expectations.js'
import type { CaseDefinition } from '../../conformance-context.js'

/** Cells in a sandbox of their own. */
const printsExpected = (name: string, cells: readonly string[], expected: string): CaseDefinition =>
  prints(name, cells, expected, { isFresh: true })

/** Event loops behave as in plain Python. */
export const asyncioCases: readonly CaseDefinition[] = [
  printsExpected(
    'cancels the tasks that asyncio.run leaves over: they call no tool in a later cell',
    [
      `
import asyncio
async def left_over():
    try:
        await asyncio.sleep(0.01)
        print("effect", await get("left over"))
    except asyncio.CancelledError:
        print("cancelled")
        raise
async def main():
    asyncio.create_task(left_over())
    await asyncio.sleep(0)
asyncio.run(main())`,
      `
async def later():
    await asyncio.sleep(0.05)
    return await get("main")
print(asyncio.run(later()))`,
    ],
    "cancelled\n{'a': 'main'}\n",
  ),
  printsExpected(
    'closes the loop and the async generators of asyncio.run, honours debug, refuses what is no coroutine',
    [
      `
import asyncio
async def generator():
    try:
        yield 1
    finally:
        print("generator closed")
kept = generator()
async def main():
    global loop
    loop = asyncio.get_running_loop()
    async for _ in kept:
        break
    return loop.get_debug(), await get(1)
print(asyncio.run(main(), debug=True), loop.is_closed())
try:
    asyncio.run(1)
except (TypeError, ValueError) as error:
    print("refused", "outine" in str(error))`,
    ],
    "generator closed\n(True, {'a': 1}) True\nrefused True\n",
  ),
  printsExpected(
    'serves tool calls in new_event_loop() and in Runner(), and continues in the loop of cells',
    [
      `
import asyncio
async def main(n):
    return (await get(n))["a"]
loop = asyncio.new_event_loop()
print(loop.run_until_complete(main(1)))
loop.close()
with asyncio.Runner() as runner:
    print(runner.run(main(2)), runner.run(main(3)))`,
      'print(await main(4))',
    ],
    '1\n2 3\n4\n',
  ),
  printsExpected(
    'has a new loop for cells when the program closed theirs or its executor',
    [
      `
import asyncio
async def main():
    return (await get(1))["a"]
loop = asyncio.get_event_loop()
print(loop.run_until_complete(main()))
loop.close()`,
      'print(await main())\nawait asyncio.get_running_loop().shutdown_default_executor()',
      'try: print(await asyncio.to_thread(int, 2))\nexcept RuntimeError as error: print("start new thread" in str(error) and 2)',
      'print(asyncio.get_event_loop().run_until_complete(main()))',
    ],
    '1\n1\n2\n1\n',
  ),
  fails(
    'an error of asyncio.run in a running loop names the alternative',
    'import asyncio\nasync def main(): pass\nawait get(1)\nasyncio.run(main())',
    /cannot be called from a running event loop\n\[hint\] .*write `await main\(\)`/,
    { isFresh: true },
  ),
  printsExpected(
    'keeps what a cell sets in its context, with top-level await or without',
    [
      'import asyncio, contextvars, decimal\nvariable = contextvars.ContextVar("variable")\nvariable.set(1)',
      'print(variable.get())\nawait get(1)\nvariable.set(2)\ndecimal.getcontext().prec = 5',
      'print(variable.get(), decimal.Decimal(1) / 3)',
      'await asyncio.sleep(0)\nprint(variable.get(), decimal.Decimal(1) / 3)',
    ],
    '1\n2 0.33333\n2 0.33333\n',
  ),
  printsExpected(
    'fires a timer that was set by time.monotonic',
    [
      `
import asyncio, time
await asyncio.sleep(5000)`,
      `
loop = asyncio.get_running_loop()
fired, begun = loop.create_future(), time.monotonic()
loop.call_at(time.monotonic() + 0.2, fired.set_result, None)
await fired
print(0.1 < time.monotonic() - begun < 60)`,
    ],
    'True\n',
  ),
  printsExpected(
    'measures with perf_counter the time that the program waited',
    [
      `
import asyncio, time
for _ in range(2):
    begun = time.perf_counter(), time.perf_counter_ns(), time.monotonic()
    await asyncio.sleep(68)
    ended = time.perf_counter(), time.perf_counter_ns() / 1e9, time.monotonic()
    print([60 < end - begin < 100 for begin, end in zip((begun[0], begun[1] / 1e9, begun[2]), ended)])`,
    ],
    '[True, True, True]\n[True, True, True]\n',
  ),
  printsExpected(
    'has no loop after asyncio.run, but one in the next cell',
    [
      `
import asyncio
async def main():
    return (await get(1))["a"]
print(asyncio.run(main()))
try:
    asyncio.get_event_loop()
except RuntimeError as error:
    print("no current event loop" in str(error))`,
      'print(asyncio.get_event_loop().run_until_complete(main()))',
    ],
    '1\nTrue\n1\n',
  ),
]
