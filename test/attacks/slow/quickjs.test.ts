import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createWasmBackend } from '../../../src/sandbox/wasm/index.js'
import { completed, failed } from '../../support/languages/javascript-programs.js'
import { JavaScriptRunner } from '../../support/sandbox/javascript-runner.js'
import { AttackEnvironment, maxMemoryGrowthBytes } from '../support/attack-environment.js'
import { RecordedCalls } from '../support/recorded-calls.js'

const backend = createWasmBackend({ language: 'javascript' })
afterAll(async () => backend.close())

const start = async () => JavaScriptRunner.startEmbedded(backend)

/** Hostile cells, and how they end. The session lives after each of them, with its variables. */
const hostile: Readonly<Record<string, readonly [source: string, end: object]>> = {
  'Q01 takes all memory in arrays': [
    'const a = []; for (;;) a.push(new Array(1e5).fill(a.length))',
    failed('out of memory'),
  ],
  'Q01 takes all memory in texts': [
    'const a = []; for (;;) a.push("x".repeat(1e6) + a.length)',
    failed('out of memory'),
  ],
  'Q01 takes all memory in buffers': ['const a = []; for (;;) a.push(new ArrayBuffer(1e7))', failed('out of memory')],
  'Q01 catches that memory is full': [
    'const a = []; for (;;) try { a.push(new ArrayBuffer(1e7)) } catch {}',
    failed('out of memory'),
  ],
  'Q01 makes a text too long': ['let s = "x"; for (;;) s += s', failed('too long')],
  'Q02 calls itself forever': ['function f() { return f() + 1 }\nf()', failed('Maximum call stack size exceeded')],
  'Q02 nests too deep for JSON': [
    'let x = []; for (let i = 0; i < 100_000; i++) x = [x]; JSON.stringify(x)',
    failed('Maximum call stack size exceeded'),
  ],
  'Q03 backtracks forever': [
    '/^(a+)+$/.test("a".repeat(50) + "b"); for (;;);',
    failed('it may run 2 seconds', 'timed_out'),
  ],
  'Q03 loops in jobs of promises, and catches': [
    'async function f() { for (;;) await null }\nfor (;;) try { await f() } catch {}',
    failed('it may run 2 seconds', 'timed_out'),
  ],
  'Q03 leaves many loops behind': [
    'for (let i = 0; i < 50; i++) (async () => { for (;;) await null })()\nfor (;;);',
    failed('it may run 2 seconds', 'timed_out'),
  ],
  'Q04 has a getter that never ends in an error': [
    'throw Object.defineProperty(new Error("x"), "stack", { get() { for (;;); } })',
    failed('it may run 2 seconds', 'timed_out'),
  ],
  'Q04 has a getter that throws in a thrown value': [
    'throw { get message() { throw this }, get stack() { throw this }, get name() { throw this } }',
    failed('Uncaught { message: [Getter]'),
  ],
  'Q04 passes a proxy as arguments': [
    'await get(new Proxy({}, { get() { throw new Error("trap") }, ownKeys() { throw new Error("trap") } }))',
    failed('get() takes JSON values only: trap'),
  ],
  'Q02 calls itself forever in a getter of its arguments': [
    'const a = { get x() { return JSON.stringify(a) } }; await get(a)',
    failed('Maximum call stack size exceeded'),
  ],
  'Q04 has a getter that never ends in its arguments': [
    'await get({ get x() { for (;;); } })',
    failed('it may run 2 seconds', 'timed_out'),
  ],
  'Q04 has a getter that never ends in what it prints': [
    'console.log(new Proxy({}, { get() { for (;;); }, ownKeys() { for (;;); } }), { toString() { for (;;); }, get a() { for (;;); } })\nconsole.log(String({ toString() { for (;;); } }))',
    failed('it may run 2 seconds', 'timed_out'),
  ],
  'Q04 returns a promise with a getter that never ends': [
    'await { get then() { for (;;); } }',
    failed('it may run 2 seconds', 'timed_out'),
  ],
  'Q05 breaks what the runner could use': [
    'for (const name of Object.getOwnPropertyNames(Array.prototype)) if (name !== "length") Array.prototype[name] = undefined\nfor (const name of ["then", "catch", "finally"]) Promise.prototype[name] = undefined\nMap.prototype.set = Map.prototype.get = JSON.parse = JSON.stringify = String.prototype.replace = Object.defineProperty = undefined\nObject.prototype.type = "completed"; Error.prepareStackTrace = () => { throw 1 }\nconsole.log((await get({ id: 1 })).id); throw "end"',
    failed('an error that can not be shown'),
  ],
}

it.each(Object.entries(hostile))('%s, in QuickJS, and ends only its own cell', async (_name, [source, end]) => {
  const runner = await start()
  await runner.run('const kept = 7')
  expect((await runner.run(source)).end).toMatchObject(end)
  expect(await runner.run('console.log(kept)')).toMatchObject({ output: '7\n', end: completed })
})

it('Q06 code finds nothing outside of the engine', async () => {
  const runner = await start()
  const source = `
const found = []
const look = (name, get) => { try { found.push([name, typeof get()]) } catch (error) { found.push([name, error.name]) } }
look('process', () => Function('return process')())
look('require', () => (0, eval)('require'))
look('constructor', () => console.log.constructor.constructor('return process')())
look('std', () => std)
look('os', () => os)
look('host', () => host)
Error.prepareStackTrace = (_, frames) => frames
for (const frame of (() => new Error())().stack ?? [])
  for (const name of ['getThis', 'getFunction']) look(name, () => frame[name]?.()?.process)
console.log([...new Set(found.map(([name, kind]) => name + ' ' + kind))].join(', '))`
  const { output } = await runner.run(source)
  expect(output).toMatch(
    /^process ReferenceError, require ReferenceError, constructor ReferenceError, std ReferenceError, os ReferenceError, host ReferenceError/,
  )
  expect(output).not.toMatch(/object|function/)
})

const calls = new RecordedCalls()

describe('a hostile program in QuickJS, and its worker', () => {
  let attackEnv: AttackEnvironment
  beforeAll(async () => {
    const tools = [calls.tool('echo'), calls.tool('direct_only', { allowedCallers: ['direct'] })]
    attackEnv = await AttackEnvironment.start({ backend: 'wasm', language: 'javascript', tools })
  })
  beforeEach(() => calls.clear())
  afterAll(() => attackEnv.close())

  it.each([
    ['Q01 all memory', 'const a = []\nfor (;;) a.push(new ArrayBuffer(1e7))', /out of memory/],
    ['Q02 all of the stack', 'const f = () => f() + 1\nf()', /call stack size/],
    ['Q03 all time', 'for (;;) try { for (;;); } catch {}', /it may run/],
    ['Q03 a flood of output', "for (;;) console.log('x'.repeat(1e5))", /it may run/],
  ])('%s: the worker neither stops nor grows', async (_, source, error) => {
    const { outcome, memoryGrowthBytes } = await attackEnv.attack(source, { cellSeconds: 3 })
    expect('error' in outcome ? outcome.error : '').toMatch(error)
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
  })

  it('Q04 getters in arguments and results are data for the host, or run only in the engine', async () => {
    const answers = await attackEnv.probe(`
let reads = 0
const result = await echo({ get n() { reads += 1; return reads } })
Object.defineProperty(Object.prototype, 'of', { set() { throw new Error('setter') }, configurable: true })
const again = await echo({ n: 2 })
console.log(result.of, again.of, reads)
console.log(typeof direct_only)`)
    expect(answers).toEqual(['echo echo 1', 'undefined'])
    expect(calls.executed.map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }])
  })
})
