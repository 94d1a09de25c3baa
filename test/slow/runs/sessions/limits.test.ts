import { expect, it, onTestFinished } from 'vitest'
import { createPtcClient } from '../../../../src/client/index.js'
import { storedFiles } from '../../../support/environment/stored-files.js'
import { connectClient } from '../../../support/temporal/shared-server.js'
import { tool } from '../../../support/tools.js'
import { TestSession } from '../../../support/environment/test-session.js'

const echo = tool('echo', ({ value }) => value)

/** A tool with distinct results of 500,000 bytes of JSON each. */
function largeTool() {
  const calls: number[] = []
  const large = tool('large', () => String(calls.push(calls.length)).padEnd(499_998, '.'))
  return { large, calls }
}

const storageExceeded = {
  status: 'limit_exceeded',
  error: expect.stringMatching(/^arguments, results and output of this session have used up their 2000000 bytes/),
}

it('callsPerRun starts again with each execution, which counts as a run', async () => {
  const session = await TestSession.start({ tools: [echo], limits: { callsPerRun: 2 } })
  const twice = 'for n in range(2): await echo(value=n)\nprint("made")'
  for (let execution = 0; execution < 3; execution += 1) expect(await session.outputOf(twice)).toBe('made\n')
  const { outcome } = await session.execute('for n in range(3): await echo(value=n)')
  expect(outcome).toMatchObject({
    status: 'code_error',
    error: expect.stringContaining('ToolDenied: the run has used up its 2 tool calls'),
  })
  expect(await session.env.ptc.sessions.show(session.name)).toMatchObject({ cells: 4, toolCalls: 8 })
  await session.close()
})

it('the output of an execution is complete up to the capture limit, because no model reads it', async () => {
  const session = await TestSession.start({ limits: { outputCharacters: 100 } })
  expect(await session.outputOf('print("x" * 190_000)')).toBe(`${'x'.repeat(190_000)}\n`)
  expect(await session.outputOf('print("x" * 300_000)')).toMatch(/^x+\n\[\.\.\. \d+ characters cut \.\.\.\]\nx+\n$/)
  await session.close()
})

it('storedBytes counts results of tools over all executions', async () => {
  const { large, calls } = largeTool()
  const session = await TestSession.start({ tools: [large], limits: { storedBytes: 2_000_000 } })
  for (let execution = 1; execution <= 3; execution += 1) {
    expect(await session.outputOf('value = await large()\nprint(len(value))')).toBe('499998\n')
  }
  // The fourth result uses up the limit, and its code makes one more call.
  const { outcome } = await session.execute('value = await large()\nawait large()')
  expect(outcome).toMatchObject({ ...storageExceeded, sessionKept: false })
  for (const source of ['await large()', 'print(1)']) {
    expect((await session.execute(source)).outcome).toMatchObject({ ...storageExceeded, sessionKept: true, output: '' })
  }
  expect(calls).toHaveLength(4)
  expect(storedFiles(session.env).bytes).toBeLessThan(2_000_000 + 1_000)
  await session.close()
})

it('storedBytes counts arguments of calls over all executions', async () => {
  const none = tool('none', () => null)
  const session = await TestSession.start({ tools: [none], limits: { storedBytes: 2_000_000 } })
  // As JSON, each has 250,000 bytes.
  const twice = (first: string) =>
    `for second in "12": print(await none(text=("${first}" + second).ljust(249_989, ".")))`
  for (const first of ['a', 'b', 'c']) expect(await session.outputOf(twice(first))).toBe('None\nNone\n')
  expect((await session.execute(twice('d'))).outcome).toMatchObject({
    ...storageExceeded,
    sessionKept: false,
    output: 'None\n',
  })
  expect((await session.execute('print(1)')).outcome).toMatchObject({ ...storageExceeded, sessionKept: true })
  expect(storedFiles(session.env).bytes).toBeLessThan(2_000_000 + 1_000)
  await session.close()
})

it('storedBytes counts output over all executions, also without calls', async () => {
  const session = await TestSession.start({ limits: { storedBytes: 2_000_000 } })
  // As JSON, each has 200,003 bytes.
  const print = (first: number) => `print("${first}".ljust(100_000, ".") + "é" * 50_000)`
  for (let execution = 1; execution <= 10; execution += 1) {
    expect(await session.outputOf(print(execution))).toHaveLength(150_001)
  }
  const { outcome } = await session.execute(print(11))
  expect(outcome).toMatchObject({ ...storageExceeded, sessionKept: true, output: '' })
  expect(storedFiles(session.env).bytes).toBeLessThan(2_000_000 + 1_000)
  expect(await session.env.ptc.sessions.show(session.name)).toMatchObject({ cells: 10 })
  await session.close()
})

it('storedBytes counts large output three times: it is part of two payloads too', async () => {
  const session = await TestSession.start({ limits: { storedBytes: 2_000_000 } })
  // As JSON, each has 300,004 bytes.
  const print = (first: number) => `print("${first}." + "é" * 149_999)`
  for (let execution = 1; execution <= 3; execution += 1) {
    expect(await session.outputOf(print(execution))).toHaveLength(150_002)
  }
  expect((await session.execute(print(4))).outcome).toMatchObject(storageExceeded)
  const { bytes } = storedFiles(session.env)
  expect(bytes).toBeGreaterThan(3 * 3 * 300_000)
  expect(bytes).toBeLessThan(3 * 3 * 300_000 + 5_000)
  await session.close()
})

it.each([
  { callsInFlight: 1, most: 4 },
  { callsInFlight: 3, most: 6 },
])('storedBytes ends the calls of one suspension, $callsInFlight at a time', async ({ callsInFlight, most }) => {
  const { large, calls } = largeTool()
  const session = await TestSession.start({ tools: [large], limits: { storedBytes: 2_000_000, callsInFlight } })
  const { outcome } = await session.execute(`
import asyncio
results = await asyncio.gather(*(large(n=n) for n in range(100)), return_exceptions=True)
refused = [each for each in results if not isinstance(each, str)]
print(len(results) - len(refused), {type(each).__name__ for each in refused}, refused[-1])
`)
  const denied = 'the run has used up the 2000000 bytes it may store'
  expect(outcome).toMatchObject({ status: 'ok', output: `${calls.length} {'ToolDenied'} ${denied}\n` })
  expect(calls.length).toBeGreaterThanOrEqual(4)
  expect(calls.length).toBeLessThanOrEqual(most)
  expect((await session.execute('print(1)')).outcome).toMatchObject(storageExceeded)
  expect(storedFiles(session.env).bytes).toBeLessThan(most * 500_000 + 1_000)
  await session.close()
})

it('a history that grows too long fails executions with SESSION_FULL, and the session can be closed', async () => {
  const session = await TestSession.start()
  await session.outputOf('x = 1')
  // A client without a store for large values, so that they are in the history.
  const client = await connectClient()
  onTestFinished(() => client.connection.close())
  const { sessions } = createPtcClient({ client, taskQueue: session.env.ptc.taskQueue })
  // `sourceBytes` refuses each of them, so that nothing runs, but each is in the history.
  const large = `#${'x'.repeat(1_400_000)}`
  let executions = 0
  const fill = async (): Promise<never> => {
    for (;;) {
      expect(await sessions.execute(session.name, large)).toMatchObject({ outcome: { status: 'limit_exceeded' } })
      executions += 1
      if (executions > 30) throw new Error('it is never full')
    }
  }
  await expect(fill()).rejects.toMatchObject({
    code: 'SESSION_FULL',
    message: `the history of session ${session.name} has reached its limit`,
    hint: expect.stringContaining(`ptc sessions close ${session.name}`),
  })
  expect(executions).toBeGreaterThan(10)
  expect(await session.env.ptc.sessions.show(session.name)).toMatchObject({ state: 'idle', cells: 1 })
  await session.close()
  expect(await session.execute('print("x" in globals())')).toMatchObject({
    isNew: true,
    outcome: { output: 'False\n' },
  })
  await session.close()
})
