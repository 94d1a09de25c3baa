import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createWasmBackend } from '../../../src/sandbox/wasm/index.js'
import { temporaryFolder } from '../../support/folders.js'
import { completed, failed, programs, repeated } from '../../support/languages/javascript-programs.js'
import { createSpec } from '../../support/sandbox/create-spec.js'
import { JavaScriptRunner } from '../../support/sandbox/javascript-runner.js'

const backend = createWasmBackend({ language: 'javascript' })
afterAll(async () => backend.close())

const start = async () => JavaScriptRunner.startEmbedded(backend)
const noModules = failed('this sandbox has no modules')

/** What the engine does otherwise than Node.js in a container, with the reason. */
const differences: Readonly<Record<string, readonly [reason: string, expected: string | object]>> = {
  'imports builtin modules': ['there are no modules', noModules],
  'imports a module as a namespace, and later': [
    'there are no modules',
    failed("cannot read property 'basename' of undefined"),
  ],
  'imports and requires modules by code': [
    'there are no modules',
    failed('require is not defined. There are no modules'),
  ],
  'import.meta is that of the program': ['there is no process', failed('There is no process')],
  'writes of all kinds keep their order': ['there are no processes and files', noModules],
  'timers of promises and intervals': ['there are no modules', noModules],
  'a server in the code answers its own request': ['there is no network', failed('There is no network: use the tools')],
  'files, compression and workers are local work': ['there are no files', noModules],
  'an error shows its own properties': [
    'its columns are others',
    failed("Error: x\n    at cell-1.js:1:25 {\n  code: 'E_X',\n  data: { n: 1 }\n}"),
  ],
  'an error has the lines of the cell': [
    'its columns are others',
    failed('TypeError: x\n    at f (cell-1.js:3:28)\n    at cell-1.js:4:1'),
  ],
  'an error after an await has the lines of the cell': [
    'its messages are others',
    failed("TypeError: cannot read property 'x' of null\n    at cell-1.js:2:1"),
  ],
  'an unhandled rejection is an error': [
    'its columns are others',
    failed('Unhandled rejection: Error: lost\n    at cell-1.js:1:'),
  ],
  'process.exit(0) ends the cell': ['there is no process', failed('[hint] process: there is no process')],
  'process.exit(3) fails the cell, also when code catches it': [
    'there is no process',
    failed('the code waits for something that can never happen'),
  ],
}

describe('the embedded runner of JavaScript', () => {
  it.each(Object.entries(programs))('QuickJS: %s', async (name, [cells, usual]) => {
    const [, expected] = differences[name] ?? ['', usual]
    const runner = await start()
    let last: Awaited<ReturnType<typeof runner.run>> | undefined
    for (const cell of cells) last = await runner.run(cell)
    if (typeof expected === 'string') expect(last).toMatchObject({ output: expected, end: completed })
    else expect(last?.end).toMatchObject(expected)
  })

  it('QuickJS: each difference is one of a program', () => {
    expect(Object.keys(differences).filter((name) => programs[name] === undefined)).toEqual([])
  })
})

it('QuickJS: unhandled rejections of callbacks are errors of the cell, and others are listed', async () => {
  const runner = await start()
  const source = `
for (const n of [1, 2]) setTimeout(() => { Promise.reject(new Error("late " + n)); new Array(1e5).fill({}) }, n)
await new Promise((resolve) => setTimeout(resolve, 10))
const handled = Promise.reject(new Error("handled")); await get({ id: 1 }); await handled.catch(() => 0)`
  const { output, end } = await runner.run(source)
  expect(end).toMatchObject(failed('Unhandled rejection: Error: late 1'))
  expect(output).toMatch(/^Unhandled rejection: Error: late 2/)
  expect(output).not.toContain('handled"')
  expect(await runner.run('console.log(1)')).toMatchObject({ output: '1\n', end: completed })
})

/** Programs whose steps must be equal in another engine. There are no files, and no process. */
const { 'files in parallel': _, ...withoutFiles } = repeated
const repeatedHere = {
  ...withoutFiles,
  'time and randomness':
    'console.log(Date.now(), new Date().toISOString(), performance.now(), Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)))',
}

it.each(Object.entries(repeatedHere))(
  'QuickJS: a new engine repeats the steps of a program with %s',
  async (_name, source) => {
    const first = await start()
    expect(await first.run(source)).toMatchObject({ end: completed })
    const second = await start()
    for (const [index, step] of first.steps.entries()) {
      second.send(step)
      expect(await second.result()).toEqual(first.results[index])
    }
  },
)

/** What programs use and the language itself lacks. */
const provided: Readonly<Record<string, readonly [source: string, output: string]>> = {
  'formats as in Node.js': [
    'console.log("%s is %d", "a", 4.5, { b: [1, { c: { d: {} } }] }); console.error(new Map([[1, new Set(["x"])]])); console.log(["it\'s"], null, undefined, -0, 10n, Symbol("s"))',
    "a is 4.5 { b: [ 1, { c: [Object] } ] }\nMap(1) { 1 => Set(1) { 'x' } }\n[ \"it's\" ] null undefined -0 10n Symbol(s)\n",
  ],
  'tables, groups and counts': [
    'console.table([{ a: 1, b: "x" }, { a: 2 }]); console.group("g"); console.log("in\\nside"); console.groupEnd(); console.count(); console.count(); console.assert(false, "no")',
    "┌─────────┬───┬─────┐\n│ (index) │ a │ b   │\n├─────────┼───┼─────┤\n│ 0       │ 1 │ 'x' │\n│ 1       │ 2 │     │\n└─────────┴───┴─────┘\ng\n  in\n  side\ndefault: 1\ndefault: 2\nAssertion failed: no\n",
  ],
  addresses: [
    'const url = new URL("../b?x=1&y=%20#h", "https://u@example.org:8080/a/c"); url.searchParams.append("z", "é &"); url.port = ""; console.log(url.href, url.origin, [...url.searchParams.keys()].join(), URL.canParse("no"))\nconsole.log(new URLSearchParams({ q: "a b" }).toString(), new URLSearchParams("a=1&a=2").getAll("a"))',
    "https://u@example.org/b?x=1&y=+&z=%C3%A9+%26#h https://example.org x,y,z false\nq=a+b [ '1', '2' ]\n",
  ],
  'formats of languages': [
    'console.log((1234567.891).toLocaleString(), (0.256).toLocaleString("en-US", { style: "percent" }), new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" }).format(1234.5), new Date(0).toLocaleDateString("en-US", { timeZone: "UTC", dateStyle: "long" }), new Date(0).toLocaleString().replace(/\\s/g, " "))\nconsole.log(["b", "A", "ä", "a"].sort((a, b) => a.localeCompare(b)).join(), new Intl.PluralRules("en").select(1), new Intl.ListFormat("en").format(["a", "b"]), (12345678901234567890n).toLocaleString("en-US"))',
    '1,234,567.891 26% 1.234,50\u00a0€ January 1, 1970 1/1/1970, 12:00:00 AM\na,A,ä,b one a and b 12,345,678,901,234,567,890\n',
  ],
  'segments of a text': [
    'const segments = new Intl.Segmenter("en", { granularity: "word" }).segment("Hi, 👨‍👩‍👧!"); console.log([...segments].map(({ segment, index, isWordLike }) => [segment, index, isWordLike].join("|")).join(" ")); console.log(segments.containing(1).segment, [...new Intl.Segmenter().segment("👨‍👩‍👧é")].length, segments.containing(99))',
    'Hi|0|true ,|2|false  |3|false 👨‍👩‍👧|4|false !|12|false\nHi 2 undefined\n',
  ],
  'the global object by both names, and a console without a terminal': [
    'global.kept = 1; console.clear(); console.log(kept, global === globalThis, Object.keys(globalThis).includes("global"))',
    '1 true false\n',
  ],
  'bytes and texts': [
    'console.log(new TextEncoder().encode("é€").join(), new TextDecoder().decode(new Uint8Array([195, 169])), new TextDecoder("utf-16le").decode(new Uint8Array([65, 0])), atob(btoa("hi")), structuredClone(new Map([[1, { d: new Date(0) }]])))\ntry { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255])) } catch (error) { console.log(error.name) }',
    '195,169,226,130,172 é A hi Map(1) { 1 => { d: 1970-01-01T00:00:00.000Z } }\nTypeError\n',
  ],
  'signals, events and microtasks': [
    'const controller = new AbortController(); controller.signal.addEventListener("abort", (event) => console.log(event.type)); controller.abort(); console.log(controller.signal.aborted, controller.signal.reason.name)\nsetImmediate(() => console.log("immediate")); setTimeout(() => console.log("timer"), 1); queueMicrotask(() => console.log("microtask")); await new Promise((r) => setTimeout(r, 5))',
    'abort\ntrue AbortError\nmicrotask\nimmediate\ntimer\n',
  ],
  'an interval ends': [
    'let n = 0; await new Promise((r) => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); r() } }, 1000) }); console.log(n)',
    '3\n',
  ],
}

it.each(Object.entries(provided))('QuickJS provides: %s', async (_name, [source, output]) => {
  const runner = await start()
  expect(await runner.run(source)).toMatchObject({ output, end: completed })
})

it.each([
  ['require("fs")', 'require is not defined. There are no modules'],
  ['const load = () => require("fs"); if (1) load()', '[hint] require: there are no modules'],
  ['Buffer.from("x")', 'Buffer is not defined. Use Uint8Array'],
  ['if (1) await fetch("http://example.org")', '[hint] fetch: there is no network: use the tools'],
  ['await import("node:fs")', "Cannot import 'node:fs': this sandbox has no modules. There are no files"],
  ['import x from "lodash"', "Cannot import 'lodash': this sandbox has no modules"],
])('QuickJS: what is missing is named: %s', async (source, hint) => {
  const runner = await start()
  expect((await runner.run(source)).end).toMatchObject(failed(hint))
})

it('QuickJS: each global of Node.js is there, or its error says what is there instead', async () => {
  const script = 'console.log(JSON.stringify(Object.getOwnPropertyNames(globalThis)))'
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  const names = (JSON.parse(stdout) as string[]).filter((name) => !isBuiltin(name))
  const runner = await start()
  const source = `console.log(JSON.stringify(${JSON.stringify(names)}.filter((name) => !(name in globalThis))))`
  const missing = JSON.parse((await runner.run(source)).output) as string[]
  expect(missing).toEqual(expect.arrayContaining(['Buffer', 'fetch', 'ReadableStream']))
  const unnamed: string[] = []
  for (const name of [
    ...missing,
    'process',
    'require',
    'module',
    '__dirname',
    'fs',
    'path',
    'window',
    'localStorage',
  ]) {
    const { end } = await runner.run(`if (1) ${name}`)
    if (!JSON.stringify(end).includes(`[hint] ${name}: `)) unnamed.push(name)
  }
  expect(unnamed).toEqual([])
  expect((await runner.run('await crypto.subtle.digest("SHA-256", new Uint8Array(1))')).end).toMatchObject(
    failed('crypto.subtle is not available here'),
  )
  expect((await runner.run('new Intl.Locale("en")')).end).toMatchObject(failed('Intl.Locale is not available here'))
})

it('QuickJS: an interrupt ends a busy loop, and the session lives', async () => {
  const runner = await start()
  runner.startCell('let n = 1; console.log("started"); try { for (;;) n += 0 } finally { n = 2 }')
  const interrupting = setInterval(() => runner.interrupt(), 50)
  const result = await runner.result()
  clearInterval(interrupting)
  expect(result).toMatchObject({ type: 'failed', kind: 'stopped', output: 'started\n' })
  expect(result).toHaveProperty('interrupted_after')
  expect((await runner.run('console.log(n)')).output).toBe('1\n')
})

it('QuickJS: a stopped cell makes no further call, and its timers are gone', async () => {
  const runner = await start()
  runner.startCell('setInterval(() => get({ id: 2 }), 1000); await get({ id: 1 }); await get({ id: 3 })')
  expect(await runner.result()).toMatchObject({ type: 'suspended', calls: [{ call: 1 }] })
  runner.resume([], 1, 'it took too long')
  expect(await runner.result()).toMatchObject({ type: 'failed', kind: 'timed_out', error: 'it took too long' })
  expect(await runner.run('console.log("next")')).toMatchObject({ output: 'next\n', end: completed })
})

it('QuickJS: a repeated step gets the same result, and older fences and other steps are refused', async () => {
  const runner = await start()
  await runner.run('let count = 0; count += 1; console.log(count)')
  const [step] = runner.steps
  if (step?.type !== 'cell') throw new Error('no step')
  runner.send(step)
  expect(await runner.result()).toEqual(runner.results[0])
  runner.send({ ...step, digest: 'other' })
  expect(await runner.result()).toMatchObject({ type: 'refused', kind: 'fenced' })
  runner.send({ ...step, fence: [1, 7, 1], step: 7, digest: 'x' })
  expect(await runner.result()).toMatchObject({ type: 'refused', kind: 'invalid' })
})

it.each([
  ['nested too deep', `${'('.repeat(100_000)}1${')'.repeat(100_000)}`],
  ['that is TypeScript beyond types', 'enum E { A }'],
  ['that has a bad regular expression', 'const a = /(/'],
])('QuickJS: code %s is an error without frames of the runner', async (_name, source) => {
  const runner = await start()
  const { end } = await runner.run(source)
  expect(end).toMatchObject(failed('Error: '))
  expect(JSON.stringify(end)).not.toMatch(/runner|node_modules/)
  expect((await runner.run('console.log(1)')).output).toBe('1\n')
})

/** Sources of a megabyte for which a parser may need minutes, or more memory than the process has. */
const large = (text: string) => text.repeat(1_000_000 / text.length)
const numbered = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join('')

it.each([
  ['many declarations', numbered(90_000, (n) => `let v${n};`), failed('it may run 2 seconds', 'timed_out')],
  ['many exports', numbered(50_000, (n) => `export let v${n};`), failed('it may run 2 seconds', 'timed_out')],
  ['many groups', `if (0) /${large('(?<a>x)|')}y/`, failed('')],
])('QuickJS: a cell of a megabyte with %s ends at its limits', async (_name, source, end) => {
  const runner = await start()
  await runner.run('const kept = 7')
  const begun = performance.now()
  expect((await runner.run(source)).end).toMatchObject(end)
  expect(performance.now() - begun).toBeLessThan(20_000)
  expect(await runner.run('console.log(kept)')).toMatchObject({ output: '7\n', end: completed })
})

it.each(['a;', '`${a}`;', '/a/;', '{}', '0,'])('QuickJS: a megabyte of %s fits into the memory', async (text) => {
  const runner = await start()
  await runner.run('const kept = 7, a = 1')
  await runner.run(`if (0) { ${large(text)} 0 }`)
  expect(await runner.run('console.log(kept)')).toMatchObject({ output: '7\n', end: completed })
})

it('QuickJS: a backend for JavaScript loads no Python, and makes no boot image', async () => {
  const cache = await temporaryFolder()
  const own = createWasmBackend({ language: 'javascript', cache })
  onTestFinished(async () => own.close())
  const runner = await JavaScriptRunner.startEmbedded(own)
  expect((await runner.run('console.log(1)')).output).toBe('1\n')
  expect(await readdir(cache)).toEqual([])
})

it('QuickJS: a sandbox with files is refused', async () => {
  const entry = { path: 'a/b.txt', isExecutable: false, content: new Uint8Array(1) }
  const spec = { ...createSpec('with-files'), language: 'javascript', files: { digest: 'd', entries: [entry] } }
  await expect(backend.open(spec, new AbortController().signal)).rejects.toMatchObject({
    code: 'SANDBOX_FILES_UNSUPPORTED',
  })
})

it('QuickJS: a cell of a megabyte runs, and its output loses its middle', async () => {
  const runner = await start()
  const rows = Array.from(
    { length: 20_000 },
    (_value, index) => `{ id: ${index}, name: "a name with 'quotes' ${index}" }`,
  )
  const { output } = await runner.run(
    `const rows = [${rows.join(',\n')}]\nconsole.log(rows.length); console.log("y".repeat(100_000))`,
  )
  expect(output).toMatch(/^20000\ny+\n\[\.\.\. \d+ characters cut \.\.\.\]\ny+\n$/)
  expect(output.length).toBeLessThanOrEqual(20_000)
})

it('QuickJS: halves of characters are replaced, and the frame stays valid', async () => {
  const runner = await start()
  const { output, end } = await runner.run(
    'console.log("\\ud800x"); await get({ id: "\\udfff" }); throw new Error("\\ud800")',
  )
  expect(output).toBe('\ufffdx\n')
  expect(end).toMatchObject(failed('Error: \ufffd'))
})
