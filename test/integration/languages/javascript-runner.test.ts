import { describe, expect, it } from 'vitest'
import { completed, programs, repeated } from '../../support/languages/javascript-programs.js'
import { JavaScriptRunner } from '../../support/sandbox/javascript-runner.js'

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

it('JavaScript: an interrupt ends a busy loop, and the session lives', async () => {
  const runner = await JavaScriptRunner.start()
  runner.startCell('let n = 1; console.log("started"); for (;;) n += 0')
  setTimeout(() => runner.interrupt(), 300)
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

it.each(Object.entries(repeated))(
  'JavaScript: a new process repeats the steps of a program with %s',
  async (_, source) => {
    const first = await JavaScriptRunner.start()
    await first.run(source)
    const second = await JavaScriptRunner.start()
    for (const [index, step] of first.steps.entries()) {
      second.send(step)
      expect(await second.result()).toEqual(first.results[index])
    }
    expect(first.steps.length).toBeGreaterThan(0)
  },
)
