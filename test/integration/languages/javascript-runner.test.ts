import { describe, expect, it } from 'vitest'
import { splitText, type TextRange } from '../../../src/common/text/text-ranges.js'
import { type RunnerMessage, runnerMessageSchema } from '../../../src/sandbox/protocol/messages.js'
import { JavaScriptRunner } from '../../support/sandbox/javascript-runner.js'

const completed = { type: 'completed' }
const failed = (error: string, kind = 'code_error') => ({
  type: 'failed',
  kind,
  error: expect.stringContaining(error) as string,
})

/** Cells of one session, and the output or the end of the last one. */
const programs: Readonly<Record<string, readonly [cells: readonly string[], expected: string | object]>> = {
  'keeps constants, and declares them again': [['const a = 1', 'const a = 2', 'console.log(a)'], '2\n'],
  'declares a name again in another form': [
    ['const a = 1', 'let a = 2', 'var a = 3', 'class a {}', 'function a() { return 4 }', 'console.log(a())'],
    '4\n',
  ],
  'earlier functions see a later declaration': [
    ['let n = 1; const f = () => n', 'let n = 2', 'console.log(f())'],
    '2\n',
  ],
  'functions are hoisted, and have their name': [['console.log(f(), f.name)\nfunction f() { return 1 }'], '1 f\n'],
  'two functions of a name: the last one counts': [
    ['function f() { return 1 }\nfunction f() { return 2 }\nconsole.log(f())'],
    '2\n',
  ],
  'keeps what was declared before an error': [['const kept = 1\nthrow new Error("x")', 'console.log(kept)'], '1\n'],
  'a name after an error can be declared': [['const bad = JSON.parse("{")', 'const bad = 1; console.log(bad)'], '1\n'],
  'imports builtin modules': [
    ['import fs, { readFileSync as read } from "node:fs"\nconsole.log(fs.readFileSync === read)'],
    'true\n',
  ],
  'names what can be imported, when a module is missing': [
    ['await import("leftpad")'],
    failed("[hint] Packages can't be installed. This sandbox has the modules of Node.js"),
  ],
  'imports a module as a namespace, and later': [
    ['import * as path from "node:path"', 'console.log(path.basename("/a/b"))'],
    'b\n',
  ],
  'imports and requires modules by code': [
    ['const os = await import("os"); console.log(os.EOL === require("os").EOL)'],
    'true\n',
  ],
  'a class may be followed by code that would continue an expression': [
    [
      'class A {} class B {}console.log(A.name, B.name)\nclass C {}\n[1].forEach((n) => console.log(n))\nclass D {}\n(() => 0)()',
    ],
    'A B\n1\n',
  ],
  'a default export follows code without a semicolon': [
    ['const a = 1\nexport default a\n;[2].forEach((n) => console.log(n + a))'],
    '3\n',
  ],
  'a default export is followed by code without a semicolon': [
    ['export default class {}\n(() => console.log(1))()'],
    '1\n',
  ],
  'var with a pattern, also again, and with new names': [
    [
      'const { a } = { a: 1 }; var { b } = { b: 2 }, c = 3\nvar { b } = { b: 4 }, d = 5\nvar c, [e] = [6]\nconsole.log(a, b, c, d, e)',
    ],
    '1 4 3 5 6\n',
  ],
  'a name of a nested var can be declared by a later cell': [
    ['for (var i = 0; i < 2; i++) { var inner = i }', 'const i = 5; let inner = 6; console.log(i, inner)'],
    '5 6\n',
  ],
  'a nested var of a name that is a variable of the cell': [
    ['var i = 7; for (var i = 0; i < 2; i++); console.log(i)'],
    '2\n',
  ],
  'import.meta is that of the program': [
    [
      'import { pathToFileURL } from "node:url"\nconsole.log(import.meta.url === pathToFileURL(process.argv[1]).href, typeof import.meta.dirname, typeof import.meta.filename)',
    ],
    'true string string\n',
  ],
  'an error shows its own properties': [
    ['throw Object.assign(new Error("x"), { code: "E_X", data: { n: 1 } })'],
    failed("Error: x\n    at cell-1.js:1:21 {\n  code: 'E_X',\n  data: { n: 1 }\n}"),
  ],
  'exports are declarations': [
    ['export const a = 1\nexport default function f() { return a }', 'console.log(f())'],
    '1\n',
  ],
  'iterates with for await': [
    ['async function* g() { yield 1; yield await get({ id: 2 }) }\nfor await (const each of g()) console.log(each)'],
    '1\n{ id: 2 }\n',
  ],
  'a call returns parsed JSON': [
    ['const { id } = await get({ id: [1, { a: null }] })\nconsole.log(JSON.stringify(id))'],
    '[1,{"a":null}]\n',
  ],
  'waits for calls that code did not await': [['get({ id: 1 }).then(({ id }) => console.log("late", id))'], 'late 1\n'],
  'writes of all kinds keep their order': [
    [
      'import { execSync } from "node:child_process"\nimport { writeSync } from "node:fs"\nconsole.log(1); writeSync(1, "2\\n"); execSync("echo 3; echo 4 >&2", { stdio: "inherit" }); console.error(5)',
    ],
    '1\n2\n3\n4\n5\n',
  ],
  'an error has the lines of the cell': [
    ['\n\nfunction f() { throw new TypeError("x") }\nf()'],
    failed('TypeError: x\n    at f (cell-1.js:3:24)\n    at cell-1.js:4:1'),
  ],
  'an error after an await has the lines of the cell': [
    ['await get({ id: 1 })\nnull.x'],
    failed("TypeError: Cannot read properties of null (reading 'x')\n    at cell-1.js:2:6"),
  ],
  'an error has its cause': [
    ['throw new Error("outer", { cause: new Error("inner") })'],
    failed('[cause]: Error: inner'),
  ],
  'a thrown value that is no error': [['throw { a: 1 }'], failed('Uncaught { a: 1 }')],
  'a syntax error has its line': [
    ['const a = 1\nconst b = )'],
    failed('cell-1.js:2\nconst b = )\n          ^\n\nSyntaxError: Unexpected token'),
  ],
  'a return at the top level has a hint': [['return 1'], failed('A cell is no function: print the result.')],
  'an error in a timer ends the cell': [
    ['setTimeout(() => { throw new Error("late") }, 10); await new Promise((r) => setTimeout(r, 1000))'],
    failed('Error: late'),
  ],
  'an unhandled rejection is an error': [
    ['Promise.reject(new Error("lost")); console.log(1)'],
    failed('Unhandled rejection: Error: lost\n    at cell-1.js:1:16'),
  ],
  'a rejection that is handled late is not shown': [
    ['const p = Promise.reject(new Error("x")); await get({ id: 1 }); await p.catch(() => console.log("caught"))'],
    'caught\n',
  ],
  'a promise that nothing resolves ends the cell': [
    ['await new Promise(() => {})'],
    failed('the code waits for something that can never happen'),
  ],
  'process.exit(0) ends the cell': [['console.log(1); process.exit(0); console.log(2)'], '1\n'],
  'process.exit(3) fails the cell, also when code catches it': [
    ['try { process.exit(3) } catch {}\nawait new Promise(() => {})'],
    failed('process.exit(3)'),
  ],
  'a busy loop ends at the time limit, and the session lives': [
    ['const kept = 1; for (;;);', 'console.log(kept)'],
    '1\n',
  ],
  'an endless loop of promises ends at the time limit': [
    ['for (;;) await null'],
    failed('it may run 2 seconds', 'timed_out'),
  ],
  'arguments are one object': [['await get(1)'], failed('TypeError: get() takes one object with its arguments')],
  'arguments are JSON': [['await get({ id: NaN })'], failed('TypeError: get() takes JSON values only: "id" is NaN')],
  'arguments are a copy': [
    ['const list = [1]; const call = get({ id: list }); list.push(2); console.log((await call).id)'],
    '[ 1 ]\n',
  ],
  'waits for timers without real time': [
    ['const t = Date.now(); await new Promise((r) => setTimeout(r, 3_600_000)); console.log(Date.now() - t)'],
    '3600000\n',
  ],
  'timers of promises and intervals': [
    [
      'import { setTimeout as sleep, setInterval as every } from "node:timers/promises"\nawait sleep(1000); let n = 0; for await (const _ of every(1000)) if (++n === 3) break\nconsole.log(n)',
    ],
    '3\n',
  ],
  'AbortSignal.timeout aborts': [
    [
      'const signal = AbortSignal.timeout(5000); await new Promise((r) => signal.addEventListener("abort", r)); console.log(signal.reason.name)',
    ],
    'TimeoutError\n',
  ],
  'a server in the code answers its own request': [
    [
      'import { createServer } from "node:http"\nconst server = createServer((_, r) => r.end("ok")).listen(0)\nawait get({ id: 1 })\nconsole.log(await (await fetch(`http://127.0.0.1:${server.address().port}`)).text())\nserver.close()',
    ],
    'ok\n',
  ],
  'files, compression and workers are local work': [
    [
      'import { readFile, writeFile } from "node:fs/promises"\nimport { gzipSync, gunzip } from "node:zlib"\nimport { promisify } from "node:util"\nimport { Worker } from "node:worker_threads"\nawait writeFile("/tmp/js-runner-test", "x"); console.log(await readFile("/tmp/js-runner-test", "utf8"), (await promisify(gunzip)(gzipSync("y"))).toString())\nconst w = new Worker("require(\'node:worker_threads\').parentPort.postMessage(7)", { eval: true })\nw.on("message", (m) => console.log(m)); await new Promise((r) => w.on("exit", r))',
    ],
    'x y\n7\n',
  ],
  'code can shadow globals and change prototypes': [
    [
      'const fetch = 1, process = 2, Buffer = 3, JSON = 4, console2 = console; Array.prototype.map = Array.prototype.push = null; Object.assign = null',
      'console2.log(fetch + process + Buffer + JSON)',
    ],
    '10\n',
  ],
}

describe('the runner of JavaScript', () => {
  it.each(Object.entries(programs))('JavaScript: %s', async (_, [cells, expected]) => {
    const runner = await JavaScriptRunner.start()
    let last: Awaited<ReturnType<typeof runner.run>> | undefined
    for (const cell of cells) last = await runner.run(cell)
    if (typeof expected === 'string') expect(last).toMatchObject({ output: expected, end: completed })
    else expect(last?.end).toMatchObject(expected)
  })
})

it('JavaScript: a failed call is an error of its class', async () => {
  const runner = await JavaScriptRunner.start()
  const source = `
try { await get({ id: 1 }) } catch (error) {
  console.log(error.name, error instanceof ToolError, error instanceof ToolDenied, error.message, error.tool, error.status)
}`
  const answer = () => [{ index: 1, outcome: { status: 'denied', message: 'not today' } }]
  expect((await runner.run(source, answer)).output).toBe('ToolDenied true true not today get denied\n')
})

it('JavaScript: results in another order, and one at a time, reach the right calls', async () => {
  const runner = await JavaScriptRunner.start()
  runner.startCell(`
const order = []
const all = [1, 2, 3].map(async (id) => { order.push((await get({ id })).id) })
console.log((await Promise.race([get({ id: 'a' }), get({ id: 'b' })])).id)
await Promise.all(all)
console.log(order.join())`)
  const first = await runner.result()
  expect(first).toMatchObject({ type: 'suspended', wake_in: null, calls: [1, 2, 3, 4, 5].map((call) => ({ call })) })
  const ok = (index: number, id: unknown) => ({ index, outcome: { status: 'ok', value: { id } as never } })
  runner.resume([ok(5, 'b'), ok(3, 3)])
  expect(await runner.result()).toMatchObject({ type: 'suspended', calls: [], output: 'b\n' })
  runner.resume([ok(1, 1), ok(4, 'a')])
  expect(await runner.result()).toMatchObject({ type: 'suspended', calls: [] })
  runner.resume([ok(2, 2)])
  expect(await runner.result()).toMatchObject({ type: 'completed', output: '3,1,2\n' })
})

/** The text that a result has of each stream. */
function streamsOf({
  output,
  stderr = [],
}: {
  readonly output: string
  readonly stderr?: readonly TextRange[] | undefined
}) {
  const { inside, outside } = splitText(output, stderr)
  return { stdout: outside, stderr: inside }
}

it('JavaScript: output has the order of all writes, and the stream of each', async () => {
  const runner = await JavaScriptRunner.start()
  const child = (command: string) => `execSync(${JSON.stringify(command)}, { stdio: "inherit" })`
  const start = 'import { execSync } from "node:child_process"; import { writeSync } from "node:fs"\n'
  const cells: readonly (readonly [source: string, output: string, stderr: string])[] = [
    [
      'console.log("é🎉"); console.error("🎉ü"); process.stdout.write("a"); console.warn("b")',
      'é🎉\n🎉ü\nab\n',
      '🎉ü\nb\n',
    ],
    [`${start}writeSync(2, "a\\n"); console.log("b"); writeSync(1, "c\\n")`, 'a\nb\nc\n', 'a\n'],
    [
      `console.log(1); ${child('echo 2 >&2')}; console.log(3); ${child('echo 4; echo 5 >&2')}`,
      '1\n2\n3\n4\n5\n',
      '2\n5\n',
    ],
    [child('echo x >&2'), 'x\n', 'x\n'],
    [child('echo x >&2'), 'x\n', 'x\n'],
    [child('echo x'), 'x\n', ''],
    ['Promise.reject(new Error("lost")); console.log(1); process.exit(0)', '1\n', ''],
  ]
  for (const [source, output, stderr] of cells) {
    const { end } = await runner.run(source)
    expect(end).toMatchObject({ output })
    expect('output' in end && streamsOf(end)).toMatchObject({ stderr })
  }
})

it('JavaScript: much output keeps its head, its tail, and the streams of both', async () => {
  const runner = await JavaScriptRunner.start()
  const source = `
process.stderr.write("start")
for (let n = 0; n < 30; n += 1) process.stdout.write("é🎉".repeat(20_000))
for (let n = 0; n < 1_000; n += 1) { process.stdout.write("o"); process.stderr.write("e") }`
  const { end } = await runner.run(source)
  expect(end).toMatchObject({ type: 'completed', output: expect.stringMatching(/^starté🎉[^]*cut[^]*oeoe$/) })
  if (end.type !== 'completed') throw new Error('it was completed')
  expect(end.output.length).toBeLessThanOrEqual(20_000)
  expect(streamsOf(end).stderr).toBe('e'.repeat(250))
  const { output } = await runner.run('console.log("next")')
  expect(output).toBe('next\n')
})

it('JavaScript: the end of a cell has its exit code and what it used', async () => {
  const runner = await JavaScriptRunner.start()
  for (const [argument, code] of [
    ['3', 3],
    ['300', 44],
    ['-1', 255],
    ['"7"', 7],
    ['{}', undefined],
    ['NaN', undefined],
  ]) {
    const { end } = await runner.run(`process.exit(${argument})`)
    expect(end).toMatchObject({ type: 'failed' })
    expect('exit_code' in end ? end.exit_code : undefined).toBe(code)
  }
  const busy =
    'const end = process.hrtime.bigint; const t = process.cpuUsage(); while (process.cpuUsage(t).user < 200_000);'
  const { end } = await runner.run(`${busy}\nawait get({ id: 1 })\nawait new Promise((r) => setTimeout(r, 3_600_000))`)
  const { usage } = runnerMessageSchema.parse(end) as Extract<RunnerMessage, { type: 'completed' }>
  expect(usage?.cpu_ms).toBeGreaterThanOrEqual(200)
  expect(usage?.run_ms).toBeGreaterThanOrEqual(190)
  expect(usage?.run_ms).toBeLessThan(60_000)
  const peaks: number[] = []
  for (const source of ['1', 'Buffer.alloc(80_000_000, 1).length', '1']) {
    const { end: each } = await runner.run(source)
    peaks.push(
      (runnerMessageSchema.parse(each) as typeof end & { usage: { peak_memory_bytes: number } }).usage
        .peak_memory_bytes,
    )
  }
  expect(peaks[1]).toBeGreaterThan((peaks[0] ?? 0) + 60_000_000)
})

it('JavaScript: a cell that reached its time limit reports what it used', async () => {
  const runner = await JavaScriptRunner.start()
  const { end } = await runner.run('for (;;);')
  expect(end).toMatchObject({ kind: 'timed_out', usage: { run_ms: expect.any(Number) as number } })
  expect('usage' in end && end.usage?.run_ms).toBeGreaterThanOrEqual(1_900)
})

it('JavaScript: an interrupt ends a busy loop, and the session lives', async () => {
  const runner = await JavaScriptRunner.start()
  runner.startCell('let n = 1; console.log("started"); for (;;) n += 0')
  setTimeout(() => process.kill(runner.process.pid ?? 0, 'SIGINT'), 300)
  const result = await runner.result()
  expect(result).toMatchObject({ type: 'failed', kind: 'stopped', output: 'started\n' })
  expect(result).toHaveProperty('interrupted_after')
  expect((await runner.run('console.log(n)')).output).toBe('1\n')
})

it('JavaScript: a stopped cell makes no further call, and its timers are gone', async () => {
  const runner = await JavaScriptRunner.start()
  runner.startCell('setInterval(() => get({ id: 2 }), 1000); await get({ id: 1 }); await get({ id: 3 })')
  expect(await runner.result()).toMatchObject({ type: 'suspended', calls: [{ call: 1 }] })
  runner.resume([], 1, 'it took too long')
  expect(await runner.result()).toMatchObject({ type: 'failed', kind: 'timed_out', error: 'it took too long' })
  expect(await runner.run('console.log("next")')).toMatchObject({ output: 'next\n', end: completed })
})

it('JavaScript: a repeated step gets the same result, and older fences and other steps are refused', async () => {
  const runner = await JavaScriptRunner.start()
  await runner.run('let count = 0; count += 1; console.log(count)')
  const [step] = runner.steps
  if (step?.type !== 'cell') throw new Error('no step')
  runner.send(step)
  expect(await runner.result()).toEqual(runner.results[0])
  runner.send({ ...step, digest: 'other' })
  expect(await runner.result()).toMatchObject({ type: 'refused', kind: 'fenced' })
  runner.send({ ...step, fence: [0, 9, 1], step: 2, digest: 'x' })
  expect(await runner.result()).toMatchObject({ type: 'refused', kind: 'fenced', fence: [0, 9, 1] })
  runner.send({ ...step, fence: [1, 7, 1], step: 7, digest: 'x' })
  expect(await runner.result()).toMatchObject({ type: 'refused', kind: 'invalid' })
})

/** Programs whose steps must be equal in another process. */
const repeated = {
  'time and randomness':
    'console.log(Date.now(), new Date().toISOString(), performance.now(), Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)), process.hrtime())',
  'calls in parallel with retries':
    'const retry = async (id) => { for (let n = 0; n < 3; n++) { await new Promise((r) => setTimeout(r, 100 * Math.random())); const r = await get({ id: `${id}-${n}` }); if (Math.random() > 0.5) return r } }\nconsole.log(JSON.stringify(await Promise.all([1, 2, 3, 4].map(retry))))',
  'files in parallel':
    'import { readFile, readdir } from "node:fs/promises"\nconst order = []; await Promise.all(["/etc/passwd", "/etc/hostname", "/proc/version"].map(async (f) => { await readFile(f).catch(() => 0); order.push(f); await get({ id: f }) })); console.log(order.join())',
  'intervals and calls':
    'let n = 0; const t = setInterval(() => { n += 1; get({ id: n }) }, 500); await new Promise((r) => setTimeout(r, 2600)); clearInterval(t); console.log(n)',
  'sets, maps and races':
    'const s = new Set(); await Promise.allSettled([...Array(20).keys()].map(async (i) => { await get({ id: i }); s.add(i % 7) })); console.log([...s].join(), await Promise.any([get({ id: "x" }), get({ id: "y" })]).then(({ id }) => id))',
}

it.each(Object.entries(repeated))(
  'JavaScript: a new process repeats the steps of a program with %s',
  async (_, source) => {
    const first = await JavaScriptRunner.start()
    await first.run(source)
    const second = await JavaScriptRunner.start()
    for (const [index, step] of first.steps.entries()) {
      second.send(step)
      const repeated = await second.result()
      const { usage } = { usage: undefined, ...repeated }
      expect(repeated).toEqual({ ...first.results[index], ...(usage && { usage }) })
    }
    expect(first.steps.length).toBeGreaterThan(0)
  },
)
