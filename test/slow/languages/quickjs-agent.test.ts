import { expect, it } from 'vitest'
import { canStripTypes } from '../../../src/platform/strip-types.js'
import { findProcesses, killIfRunning } from '../../support/sandbox/wasm-sandbox.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, code, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'

it('an agent runs JavaScript in the embedded sandbox, keeps its variables, and calls tools in parallel', async () => {
  const square = tool('square', ({ n }) => Number(n) ** 2)
  const env = await TestEnvironment.start({
    backend: 'wasm',
    tools: [square],
    script: [
      turn(code('const squares = await Promise.all([1, 2, 3].map((n) => square({ n })))\nconsole.log(squares)')),
      turn(code('const total = squares.reduce((sum, n) => sum + n, 0)\nconsole.log(total)')),
      answerResult,
    ],
  })
  const handle = await env.startAgent({ language: 'javascript' })
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: '14', cells: 2, toolCalls: 3 })
  expect(JSON.stringify(env.api.requests[0])).toContain('Runs JavaScript in QuickJS')
  await env.expectCleanEnd(handle)
})

it('a cell with a certain mistake makes no call, unless the configuration switches the check off', async () => {
  const calls: unknown[] = []
  const charge = tool('charge', ({ amount }) => calls.push(amount))
  const source = 'console.log(await charge({ amount: 1 }))\nconsole.log(total)'
  for (const [more, expected] of [
    [{}, [0, 'The code was checked before it ran']],
    [{ checkCode: false as const }, [1, 'total is not defined']],
  ] as const) {
    const script = [turn(code(source)), answerResult]
    const env = await TestEnvironment.start({ backend: 'wasm', tools: [charge], script, ...more })
    const handle = await env.startAgent({ language: 'javascript' })
    const { answer } = await env.agentResult(handle)
    expect([calls.length, answer]).toEqual([expected[0], expect.stringContaining(expected[1])])
    await env.expectCleanEnd(handle)
  }
})

it.runIf(canStripTypes)('an agent runs TypeScript in the embedded sandbox', async () => {
  const square = tool('square', ({ n }) => Number(n) ** 2)
  const env = await TestEnvironment.start({
    backend: 'wasm',
    tools: [square],
    script: [
      turn(code('interface Row { readonly n: number }\nconst rows: Row[] = [{ n: 2 }, { n: 3 }]')),
      turn(code('const same = <T>(value: T): T => value\nconsole.log(same<number>(await square(rows[1]!) as number))')),
      answerResult,
    ],
  })
  const handle = await env.startAgent({ language: 'typescript' })
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: '9', toolCalls: 1 })
  expect(JSON.stringify(env.api.requests[0])).toContain('Runs TypeScript in QuickJS')
  await env.expectCleanEnd(handle)
})

it('an agent in JavaScript is rebuilt when its engine dies while it waits for a call', async () => {
  const [called, released] = [new Deferred(), new Deferred<number>()]
  const calls: unknown[] = []
  const slow = tool('slow', async ({ id }) => {
    calls.push(id)
    if (id !== 'b') return 1
    called.resolve()
    return released.promise
  })
  // No other engine on this machine has this limit in its command line.
  const memoryBytes = 200_000_000 + process.pid
  const env = await TestEnvironment.start({
    backend: 'wasm',
    tools: [slow],
    limits: { memoryBytes },
    script: [
      turn(code('const seen = [Math.random()]\nawait slow({ id: "a" })\nseen.push(Date.now())')),
      turn(
        code('const before = seen.join()\nawait slow({ id: "b" })\nconsole.log(before === seen.join(), seen.length)'),
      ),
      answerResult,
    ],
  })
  const handle = await env.startAgent({ language: 'javascript' })
  await called.promise
  const own = await findProcesses('quickjs/main.mjs', `"memoryBytes":${memoryBytes}`)
  expect(own.length).toBeGreaterThan(0)
  for (const id of own) killIfRunning(id, 'SIGABRT')
  released.resolve(2)
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'true 2' })
  expect(calls).toEqual(['a', 'b'])
  await env.expectCleanEnd(handle)
})

it('code in JavaScript gets large values in the embedded sandbox, and waits while it is parked', async () => {
  const large = tool('large', ({ text }) => ({ text: 'é'.repeat(5_000_000), size: JSON.stringify(text).length }))
  const source = `
const { text, size } = await large({ text: 'x'.repeat(200_000) })
const before = Date.now()
await new Promise((resolve) => setTimeout(resolve, 3_000))
console.log(text.length, size, Date.now() - before >= 3_000)`
  const env = await TestEnvironment.start({
    backend: 'wasm',
    tools: [large],
    timeouts: { park: '1s' },
    limits: { resultBytes: 20_000_000 },
    script: [turn(code(source)), answerResult],
  })
  const handle = await env.startAgent({ language: 'javascript' })
  expect(await env.agentResult(handle)).toMatchObject({ answer: '5000000 200002 true' })
  await env.expectCleanEnd(handle)
})

it('code in JavaScript that takes too much memory ends only its own cell', async () => {
  const source = 'const rows = []\nfor (;;) rows.push(new Uint8Array(20_000_000))'
  const env = await TestEnvironment.start({
    backend: 'wasm',
    limits: { memoryBytes: 64_000_000 },
    script: [turn(code('globalThis.kept = 7')), turn(code(source)), turn(code('console.log(kept)')), answerResult],
  })
  const handle = await env.startAgent({ language: 'javascript' })
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: '7' })
  const { turns } = await env.ptc.handle(handle.workflowId).tree()
  expect(turns[1]?.cells[0]?.error ?? '').toContain('out of memory')
  await env.expectCleanEnd(handle)
})

/** Kills a process, which may have exited together with another killed one. */
