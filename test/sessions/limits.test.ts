import { expect, it, onTestFinished } from 'vitest'
import { createPtcClient } from '../../src/client/index.js'
import { connectClient } from '../support/temporal.js'
import { tool } from '../support/tools.js'
import { SessionScene } from './session-scene.js'

const echo = tool('echo', ({ value }) => value)

it('callsPerRun counts anew with each execution: it is a run of its own to who makes it', async () => {
  const scene = await SessionScene.start({ tools: [echo], limits: { callsPerRun: 2 } })
  const twice = 'for n in range(2): await echo(value=n)\nprint("made")'
  for (let execution = 0; execution < 3; execution += 1) expect(await scene.printed(twice)).toBe('made\n')
  const { outcome } = await scene.execute('for n in range(3): await echo(value=n)')
  expect(outcome).toMatchObject({
    status: 'code_error',
    error: expect.stringContaining('ToolDenied: the run has used up its 2 tool calls'),
  })
  expect(await scene.stack.ptc.sessions.show(scene.name)).toMatchObject({ cells: 4, toolCalls: 8 })
  await scene.close()
})

it('what an execution prints comes whole, as far as it is captured: no model reads it', async () => {
  const limits = { outputCharacters: 100, capturedCharacters: 30_000 }
  const scene = await SessionScene.start({ limits })
  expect(await scene.printed('print("x" * 20_000)')).toBe(`${'x'.repeat(20_000)}\n`)
  expect(await scene.printed('print("x" * 50_000)')).toMatch(/^x+\n\[\.\.\. \d+ characters cut \.\.\.\]\nx+\n$/)
  await scene.close()
})

it('a history that grows too long is no end without a word: SESSION_FULL, and the session can be closed', async () => {
  const scene = await SessionScene.start()
  await scene.printed('x = 1')
  // A client that knows no store for large values, so that they are in the history.
  const client = await connectClient()
  onTestFinished(() => client.connection.close())
  const { sessions } = createPtcClient({ client, taskQueue: scene.stack.ptc.taskQueue })
  // Refused by `sourceBytes`, so that nothing runs; yet each is in the history.
  const large = `#${'x'.repeat(1_400_000)}`
  let executions = 0
  const fill = async (): Promise<never> => {
    for (;;) {
      expect(await sessions.execute(scene.name, large)).toMatchObject({ outcome: { status: 'limit_exceeded' } })
      executions += 1
      if (executions > 30) throw new Error('it is never full')
    }
  }
  await expect(fill()).rejects.toMatchObject({
    code: 'SESSION_FULL',
    message: `the history of session ${scene.name} is as long as Temporal keeps one`,
    hint: expect.stringContaining(`ptc sessions close ${scene.name}`),
  })
  expect(executions).toBeGreaterThan(10)
  expect(await scene.stack.ptc.sessions.show(scene.name)).toMatchObject({ state: 'idle', cells: 1 })
  await scene.close()
  expect(await scene.execute('print("x" in globals())')).toMatchObject({ isNew: true, outcome: { output: 'False\n' } })
  await scene.close()
})
