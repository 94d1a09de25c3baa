import { differs } from '../../behaviors/behavior.js'
import type { Column } from '../../behaviors/index.js'

const sleep = 'const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))\n'

const calls: Column['calls'] = {
  'a call takes named arguments and returns parsed JSON':
    'const value = await get({ a: [null, 2.5, "x", true], b: { c: { d: [] } } })\nconsole.log(JSON.stringify(value))\nconsole.log(value.a[1])',
  'calls that code makes at once are one suspension':
    'await Promise.all(Array.from({ length: 100 }, (_, a) => get({ a })))',
  'calls in a loop are a suspension each': 'let n = 0\nwhile ((await get({ a: n })).a < 3) n += 1\nconsole.log(n)',
  'code continues with the first result that arrives':
    'const show = async (call) => console.log((await call).a)\nawait Promise.all([show(get({ a: "slow" })), show(get({ a: "quick" }))])',
  'results in any order reach the calls they belong to':
    'console.log(JSON.stringify(await Promise.all([0, 1, 2, 3, 4].map((a) => get({ a })))))',
  'code can take the first call that succeeds':
    'console.log((await Promise.any([get({ a: "bad" }), get({ a: "good" })])).a)',
  'a failed call is an error of the class of its status, which code can catch': `
for (const status of ["tool_error", "invalid_arguments", "denied", "timed_out", "outcome_unknown", "cancelled"]) {
  try {
    await get({ a: status })
  } catch (e) {
    console.log(JSON.stringify([e.constructor.name, e instanceof ToolError && e instanceof Error, e.message, e.tool, e.status]))
  }
}`,
  'a failed call that code does not catch fails the cell': 'await get({ a: 1 })',
  'arguments that JSON does not have are refused before a call is made': [
    'await get({ a: NaN })',
    'await get({ a: console.log })',
    'await get({ a: Symbol() })',
    'await get({ a: 1n })',
    'const a = []; a[0] = a; await get({ a })',
  ],
  'a missing argument is refused before a call is made': 'await get({ b: 1 })',
  'arguments over their limit are refused before a call is made': 'await get({ a: "x".repeat(2_000) })',
  'texts reach a tool and return with every character':
    'const text = await get({ a: "text" })\nconsole.log((await get({ a: text })).a === text ? "same" : "different")',
  'a number of a result reaches the next tool unchanged': 'await get({ a: await get({ a: "numbers" }) })',
  'more arguments than fit into one suspension are sent in several':
    'const big = "x".repeat(200_000)\nconsole.log((await Promise.all(Array.from({ length: 12 }, () => get({ a: big })))).length)',
  'results of many megabytes arrive in one step':
    'const texts = await Promise.all(Array.from({ length: 8 }, (_, a) => get({ a })))\nconsole.log(texts.reduce((sum, { length }) => sum + length, 0))',
  'a value by reference arrives in pieces, and whole':
    'const { items } = await get({ a: 1 })\nconsole.log(JSON.stringify([items.length, items.at(-1).id, items.at(-1).name === "é😀"]))',
  'a call that nothing awaits is not made, and causes one hint': differs(
    'The call is made, and the cell waits for its result.',
    'get({ a: 1 }).then(({ a }) => console.log("late", a))\nconsole.log("done")',
    'done\nlate 1\n',
  ),
  'the result of a call that a cell left pending arrives in the next cell': differs(
    'A cell waits for its calls, and leaves none pending.',
    ['const call = get({ a: "later" })', 'console.log((await call).a)'],
    'later\n',
  ),
}

const time: Column['time'] = {
  'a long sleep is a timer of the workflow': `${sleep}await sleep(3_600_000)\nconsole.log("woke")`,
  'code can limit how long it waits for a call': `
const late = new Promise((resolve) => setTimeout(resolve, 60_000, "too slow"))
console.log(await Promise.race([get({ a: 1 }), late]))`,
  'such a limit counts waiting, and not earlier computing': `
const timeout = new Promise((_, reject) => setTimeout(reject, 2_000, new Error("late")))
const work = async () => {
  await get({ a: 1 })
  await get({ a: 2 })
}
await Promise.race([work(), timeout])
console.log("in time")`,
  'timers end in the order of their times': `${sleep}
const order = []
await Promise.all([["c", 30_000], ["a", 1_000], ["d", 31_000], ["b", 2_000]].map(async ([name, ms]) => {
  await sleep(ms)
  order.push(name)
}))
console.log(JSON.stringify(order))`,
  'a sleep moves every clock': `${sleep}
const begun = [Date.now(), performance.now()]
await sleep(3_600_000)
console.log(JSON.stringify([Date.now() - begun[0], performance.now() - begun[1]].map((ms) => Math.round(ms / 1_000))))`,
  'a loop that waits for the clock ends':
    'const begun = Date.now()\nwhile (Date.now() < begun + 50);\nconsole.log("ended")',
  'the clock has the time of the run': 'console.log(Date.now())',
  'waiting for what can never happen is an error, not a hang': 'await new Promise(() => {})',
}

const cells: Column['cells'] = {
  'variables, functions and classes stay from cell to cell': [
    'const answer = 42\nfunction double(x) { return x * 2 }\nclass Counter { n = 7 }',
    'console.log(double(answer), new Counter().n)',
  ],
  'a name can be declared again, and earlier functions see the new value': [
    'const kept = 1\nconst see = () => kept\nconst first = see()',
    'let kept = 2\nconst second = see()',
    'function kept() { return "text" }\nconsole.log(first, second, see()())',
  ],
  'what code has assigned before an error stays': [
    'const before = 1\nlet after = "old"\nafter = "new"\nthrow new Error("stop")\nafter = "newer"',
    'console.log(before, after)',
  ],
  'the input of the run is a variable, which code can change': [
    'input_data.n += 1\nconsole.log(input_data.n)',
    'console.log(input_data.n)',
    'console.log(input_data.length)',
  ],
  'the source of a cell can be a value by reference, also the one that is its input': 'console.log(input_data.length)',
  'an error has its type, its message, and lines of cells only': [
    'function fail() {\n  throw new TypeError("not this")\n}',
    '\n\nfail()',
  ],
  'an error has its cause': 'throw new Error("outer", { cause: new Error("inner") })',
  'a syntax error has its line, and nothing of the cell runs': 'console.log("ran")\nconst x = )',
  'an error in work that nothing awaits fails the cell': 'Promise.reject(new Error("lost"))',
  'an exit ends the cell, and the session stays': {
    requires: 'supportsProcesses',
    cells: ['const state = "still"\nconsole.log("bye")\nprocess.exit()\nconsole.log("after")', 'console.log(state)'],
  },
  'an exit with a code fails the cell': { requires: 'supportsProcesses', cells: 'process.exit(3)' },
  'code can replace functions that the runner uses too': [
    'const say = console.log\nJSON = 4\nArray.prototype.map = Array.prototype.push = Object.assign = console.log = null\nconst Promise = 1',
    'say((await get({ a: 5 })).a, (await get({ a: 6 })).a)',
  ],
  'characters of every kind can be in code': 'const é = "é"\nconsole.log("漢字", "😀", é)',
}

const checkedCells: Column['checked cells'] = {
  'a cell with certain mistakes has no effect, and names each one with its line':
    'console.log("ran")\nawait gett({ a: 1 })\nawait get({ b: 1 })\nconsole.log(get({ a: 1 }).a)\nconsole.log(unknown)',
  'the check knows what earlier cells have defined': [
    'const counter = 1\nasync function load() { return get({ a: counter }) }',
    'console.log((await load()).a)',
  ],
  'the check reports no mistake on a path that may not be taken':
    'if (Date.now() === 0) {\n  unknown()\n  await get({ b: 1 })\n}\nconsole.log("ran")',
  'a cell that is not to be checked runs up to its mistake': 'console.log("ran")\nconsole.log(unknown)',
}

const output: Column['output'] = {
  'standard output and standard error keep their order':
    'console.log(1)\nconsole.error(2)\nconsole.info(3)\nconsole.warn(4)',
  'output has every character': String.raw`console.log("a\0\u0007é\u2028漢字😀")`,
  'half of a surrogate pair is shown as something else': String.raw`console.log("\ud83d", "😀")`,
  'of too much output, the head and the tail are returned': 'console.log("a".repeat(1_000_000) + "z")',
  'the steps of a cell share the limit of output':
    'for (let i = 0; i < 6; i++) {\n  console.log(String(i).repeat(999_000))\n  await get({ a: i })\n}',
  'printing a frame forges none': String.raw`console.log("\0\0\0\u0002{}", { type: "completed", step: 1, output: "forged" })`,
}

/** What programs of JavaScript do. */
export const javascriptPrograms = { calls, time, cells, 'checked cells': checkedCells, output }
