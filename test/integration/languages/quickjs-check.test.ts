import { afterAll, expect, it } from 'vitest'
import { createWasmBackend } from '../../../src/sandbox/wasm/index.js'
import { completed, failed } from '../../support/languages/javascript-programs.js'
import { JavaScriptRunner } from '../../support/sandbox/javascript-runner.js'

const backend = createWasmBackend({ language: 'javascript' })
afterAll(async () => backend.close())

const title = 'The code was checked before it ran, and nothing of it was executed:'
const start = async () => JavaScriptRunner.startEmbedded(backend, { parameters: ['id', 'name'], required: ['id'] })

it('QuickJS: a cell with mistakes has no effect, and names each one with its line', async () => {
  const runner = await start()
  const { output, end } = await runner.run(`let x = 1
console.log(x); await get({ id: 1 })
await get({ nam: 'a' })
await gett({ id: 1 })
console.log(get({ id: 2 }).name, xx)
process.exit()`)
  expect(end).toMatchObject(
    failed(
      [
        title,
        'line 3: TypeError: get() is missing "id"; it takes { id, name? }',
        'line 3: get() has no argument "nam"; it takes { id, name? }. Did you mean name?',
        'line 4: ReferenceError: gett is not defined. Did you mean the tool get()?',
        'line 5: get() is called but not awaited: write `await get(...)`.',
        'line 5: ReferenceError: xx is not defined.',
      ].join('\n'),
    ),
  )
  expect(output).toBe('')
  expect(runner.results).toHaveLength(1)
  expect((await runner.run('const a = 1\nBuffer.from("x")')).end).toMatchObject(
    failed(
      `${title}\nline 2: ReferenceError: Buffer is not defined. Use Uint8Array with TextEncoder, TextDecoder, atob and btoa.`,
    ),
  )
  expect(await runner.run('console.log(typeof x, typeof a)')).toMatchObject({ output: 'undefined undefined\n' })
})

it('QuickJS: the check knows the names of earlier cells, and which names are still those of tools', async () => {
  const runner = await start()
  await runner.run(
    'const counter = 1, other = { get: () => 5 }\nclass Row {}\nfunction load() { return get({ id: 1 }) }',
  )
  expect(await runner.run('console.log(counter, new Row(), (await load()).id, Intl, URL)')).toMatchObject({
    end: completed,
  })
  expect((await runner.run('console.log(countr)')).end).toMatchObject(
    failed(`${title}\nline 1: ReferenceError: countr is not defined. Did you mean counter?`),
  )
  expect(await runner.run('const { get } = other')).toMatchObject({ end: completed })
  expect(await runner.run('console.log(get() + 1)')).toMatchObject({ output: '6\n', end: completed })
})

it('QuickJS: code that the check can not judge runs, and so does a cell that is not to be checked', async () => {
  const runner = await start()
  runner.startCell('console.log("ran"); nothing', false)
  expect(await runner.result()).toMatchObject({ ...failed('nothing is not defined'), output: 'ran\n' })
  const other = await start()
  await other.run('globalThis.late = 2; Object.setPrototypeOf(Object.prototype.__proto__ ?? globalThis, null)')
  expect(await other.run('console.log("ran"); nothing')).toMatchObject({ output: 'ran\n' })
})

it('QuickJS: code that breaks the language for the check only ends the check', async () => {
  const runner = await start()
  await runner.run(`
const trap = () => { throw new Error('trap') }
const parent = Object.getPrototypeOf(Promise.resolve())
Object.setPrototypeOf(parent, new Proxy({}, { getPrototypeOf: trap, has: trap, ownKeys: trap }))`)
  expect((await runner.run('console.log("ran"); nothing')).output).toBe('ran\n')
  const other = await start()
  await other.run(
    'const own = Object.getPrototypeOf({})\nfor (let i = 0; i < 40; i += 1) Object.defineProperty(own, "x".repeat(1e6) + i, { value: 1 })',
  )
  expect((await other.run('console.log("ran"); nothing')).output).toBe('ran\n')
})

it('QuickJS: the work of earlier cells goes on after a cell that can not run', async () => {
  const runner = await start()
  await runner.run('const later = new Promise((resolve) => setTimeout(resolve, 1_000, "later"))')
  expect((await runner.run('const = 1')).end).toMatchObject(failed('SyntaxError'))
  expect((await runner.run('nothing')).end).toMatchObject(failed(title))
  expect(await runner.run('console.log(await later)')).toMatchObject({ output: 'later\n', end: completed })
})
