import type { Column } from '../../behaviors/index.js'
import { differs } from '../../behaviors/behavior.js'

const calls: Column['calls'] = {
  'a call takes named arguments and returns parsed JSON':
    'value = await get(a=[None, 2.5, "x", True], b={"c": {"d": []}})\nprint(json.dumps(value))\nprint(value["a"][1])',
  'calls that code makes at once are one suspension': 'await asyncio.gather(*(get(n) for n in range(100)))',
  'calls in a loop are a suspension each': 'n = 0\nwhile (await get(n))["a"] < 3:\n    n += 1\nprint(n)',
  'code continues with the first result that arrives':
    'for first in asyncio.as_completed([get("slow"), get("quick")]):\n    print((await first)["a"])',
  'results in any order reach the calls they belong to':
    'print(json.dumps(await asyncio.gather(*(get(n) for n in range(5)))))',
  'code can take the first call that succeeds': `
async def first_success(calls):
    for call in asyncio.as_completed(calls):
        try:
            return (await call)["a"]
        except ToolError: pass
print(await first_success([get("bad"), get("good")]))`,
  'a failed call is an error of the class of its status, which code can catch': `
for status in "tool_error", "invalid_arguments", "denied", "timed_out", "outcome_unknown", "cancelled":
    try:
        await get(status)
    except ToolError as e:
        print(json.dumps([type(e).__name__, isinstance(e, ToolError), str(e), e.tool, e.status]))`,
  'a failed call that code does not catch fails the cell': 'await get(1)',
  'arguments that JSON does not have are refused before a call is made': [
    'await get(float("nan"))',
    'await get(print)',
    'await get({1})',
    'await get(b"x")',
  ],
  'a missing argument is refused before a call is made': 'await get(b=1)',
  'arguments over their limit are refused before a call is made': 'await get("x" * 2_000)',
  'texts reach a tool and return with every character': `
text = await get("text")
print("same" if (await get(text))["a"] == text else "different")`,
  'a number of a result reaches the next tool unchanged': 'await get(await get("numbers"))',
  'more arguments than fit into one suspension are sent in several':
    'big = "x" * 200_000\nprint(len(await asyncio.gather(*(get(big) for _ in range(12)))))',
  'results of many megabytes arrive in one step':
    'print(sum(len(x) for x in await asyncio.gather(*(get(i) for i in range(8)))))',
  'a value by reference arrives in pieces, and whole':
    'items = (await get(1))["items"]\nprint(json.dumps([len(items), items[-1]["id"], items[-1]["name"] == "é😀"]))',
  'a call that nothing awaits is not made, and causes one hint': ['x = get(1)\nget(2)\nprint("done")', 'print("next")'],
  'the result of a call that a cell left pending arrives in the next cell': [
    'task = asyncio.create_task(get("later"))\nawait asyncio.sleep(0)',
    'print((await task)["a"])',
  ],
}

const time: Column['time'] = {
  'a long sleep is a timer of the workflow': 'await asyncio.sleep(3600)\nprint("woke")',
  'code can limit how long it waits for a call':
    'try:\n    async with asyncio.timeout(60):\n        await get(1)\nexcept TimeoutError:\n    print("too slow")',
  'such a limit counts waiting, and not earlier computing':
    'async with asyncio.timeout(2):\n    await get(1)\n    await get(2)\nprint("in time")',
  'timers end in the order of their times': `
order = []
async def wait(name, seconds):
    await asyncio.sleep(seconds)
    order.append(name)
await asyncio.gather(wait("c", 30), wait("a", 1), wait("d", 31), wait("b", 2))
print(json.dumps(order))`,
  'a sleep moves every clock': `
import time
begun = time.time(), time.monotonic()
await asyncio.sleep(3600)
print(json.dumps([round(time.time() - begun[0]), round(time.monotonic() - begun[1])]))`,
  'a loop that waits for the clock ends':
    'import time\nbegun = time.time()\nwhile time.time() < begun + 0.05: pass\nprint("ended")',
  'the clock has the time of the run': 'import time\nprint(time.time() * 1000)',
  'waiting for what can never happen is an error, not a hang': 'await asyncio.Future()',
}

const cells: Column['cells'] = {
  'variables, functions and classes stay from cell to cell': [
    'answer = 42\ndef double(x): return x * 2\nclass Counter:\n    n = 7',
    'print(double(answer), Counter().n)',
  ],
  'a name can be declared again, and earlier functions see the new value': [
    'kept = 1\ndef see(): return kept\nfirst = see()',
    'kept = 2\nsecond = see()',
    'def kept(): return "text"\nprint(first, second, see()())',
  ],
  'what code has assigned before an error stays': [
    'before = 1\nafter = "old"\nafter = "new"\nraise ValueError("stop")\nafter = "newer"',
    'print(before, after)',
  ],
  'the input of the run is a variable, which code can change': [
    'input_data["n"] += 1\nprint(input_data["n"])',
    'print(input_data["n"])',
    'print(len(input_data))',
  ],
  'the source of a cell can be a value by reference, also the one that is its input': 'print(len(input_data))',
  'an error has its type, its message, and lines of cells only': [
    'def fail():\n    raise TypeError("not this")',
    '\n\nfail()',
  ],
  'an error has its cause':
    'try:\n    raise KeyError("inner")\nexcept KeyError as error:\n    raise ValueError("outer") from error',
  'a syntax error has its line, and nothing of the cell runs': 'print("ran")\nx = (]',
  'an error in work that nothing awaits fails the cell': differs(
    'The task ends. `asyncio` reports its error when the task is dropped.',
    'async def fail():\n    raise ValueError("lost")\ntask = asyncio.create_task(fail())\nawait asyncio.sleep(0)\nprint("end")',
    'end\n',
  ),
  'an exit ends the cell, and the session stays': [
    'import sys\nstate = "still"\nprint("bye")\nsys.exit()\nprint("after")',
    'print(state)',
  ],
  'an exit with a code fails the cell': 'import sys\nsys.exit(3)',
  'code can replace functions that the runner uses too': [
    'import builtins\nsay = print\nbuiltins.print = builtins.open = json.dumps = json.loads = asyncio.sleep = None',
    'say((await get(5))["a"], (await get(6))["a"])',
  ],
  'characters of every kind can be in code': 'é = "é"\nprint("漢字", "😀", é)',
}

const checkedCells: Column['checked cells'] = {
  'a cell with certain mistakes has no effect, and names each one with its line':
    'print("ran")\nawait gett(a=1)\nawait get(b=1)\nprint(get(a=1)["a"])\nprint(unknown)',
  'the check knows what earlier cells have defined': [
    'counter = 1\nasync def load():\n    return await get(counter)',
    'print((await load())["a"])',
  ],
  'the check reports no mistake on a path that may not be taken':
    'import time\nif time.time() == 0:\n    unknown()\n    await get(b=1)\nprint("ran")',
  'a cell that is not to be checked runs up to its mistake': 'print("ran")\nprint(unknown)',
}

const output: Column['output'] = {
  'standard output and standard error keep their order':
    'import sys\nprint(1)\nprint(2, file=sys.stderr)\nsys.stdout.write("3\\n")\nsys.stderr.write("4\\n")',
  'output has every character': String.raw`print("a\0\u0007é\u2028漢字😀")`,
  'half of a surrogate pair is shown as something else': String.raw`print("\ud83d", "😀")`,
  'of too much output, the head and the tail are returned': 'print("a" * 1_000_000 + "z")',
  'the steps of a cell share the limit of output': 'for i in range(6):\n    print(f"{i}" * 999_000)\n    await get(i)',
  'printing a frame forges none':
    'print("\\x00\\x00\\x00\\x02{}", {"type": "completed", "step": 1, "output": "forged"})',
}

/** What programs of Python do. */
export const pythonPrograms = { calls, time, cells, 'checked cells': checkedCells, output }
