import { expect, it } from 'vitest'
import { z } from 'zod'
import { queryRun } from '../../../../src/client/temporal/query-run.js'
import { inMode } from '../../../support/mode.js'
import { answerResult, call, code, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

it('the history has an activity with a name and a summary for every step of a run', async ({ skip }) => {
  skip(
    inMode('always-evict') || inMode('always-reattach'),
    'these are the activities of a run that loses no connection',
  )
  const input = z.object({ employee_id: z.string(), quarter: z.string() })
  const env = await TestEnvironment.start({
    tools: [tool('get_expenses', () => 7, { input }), tool('notify', () => 'ok', { summary: () => 'notify the team' })],
    script: [
      turn(code('print(await get_expenses(employee_id="ENG001", quarter="Q3"))')),
      turn(call('notify', { all: true })),
      answerResult,
    ],
  })
  expect(await env.runAgent()).toMatchObject({ answer: 'ok', turns: 3, cells: 1, toolCalls: 2 })
  const rows = await env.activities()
  expect(rows.map(({ type, summary }) => [type, summary])).toEqual([
    ['run.config', 'read the configuration'],
    ['model.turn', 'model turn 1'],
    ['session.open', expect.stringMatching(/^open a session \((docker|wasm)\), run cell 1$/)],
    ['get_expenses', 'get_expenses ENG001 Q3'],
    ['model.turn', expect.stringMatching(/^model turn 2 · \d.* in$/)],
    ['notify', 'notify the team'],
    ['model.turn', expect.stringMatching(/^model turn 3 · \d.* in$/)],
    ['session.close', 'close the session'],
  ])
  expect(rows.filter(({ type }) => !type.includes('.')).map(({ id }) => id)).toEqual([
    'turn-1.cell-1.call-1',
    'turn-2.direct-1',
  ])
})

it('the current details describe the state of a run', async () => {
  const called = new Deferred()
  const go = new Deferred<null>()
  const wait = tool('wait', () => {
    called.resolve()
    return go.promise
  })
  const env = await TestEnvironment.start({
    tools: [wait],
    limits: { turns: 9 },
    script: [turn(code('await wait()')), answerResult],
  })
  const handle = await env.startAgent()
  await called.promise
  const { workflowId } = handle
  const metadata = await queryRun<{ readonly currentDetails: string }>(
    env.client,
    { workflowId },
    '__temporal_workflow_metadata',
  )
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`
  expect(metadata?.currentDetails?.split('\n\n')).toEqual([
    expect.stringMatching(`^\\*\\*Waits for 1 tool call \\(cell 1\\)\\*\\* since ${time}$`),
    expect.stringMatching(`^The sandbox is kept. The cell ends at ${time} at the latest.$`),
    expect.stringMatching(`^- \`wait\` since ${time}$`),
    expect.stringMatching(
      /^turn 1 of at most 9 · cells 1 · tool calls 1 of at most 5000 · tokens \d+ in, \d+ out · cost unknown · context \d+ tokens of an unknown window$/,
    ),
  ])
  go.resolve(null)
  await handle.result()
  await env.expectCleanEnd(handle)
})

it('a summary that exceeds the limit of Temporal is truncated', async () => {
  const env = await TestEnvironment.start({
    tools: [tool('say', () => 'said', { summary: () => '\u0007"\\é😀'.repeat(100) })],
  })
  const { outcome } = await env.runProgram('print(await say(text="é" * 5000))')
  expect(outcome).toMatchObject({ status: 'ok', output: 'said\n' })
})

it('a stopped worker hands its runs and their sandboxes over to the next worker', async () => {
  const called = new Deferred()
  const go = new Deferred<null>()
  const wait = tool('wait', () => {
    called.resolve()
    return go.promise
  })
  const env = await TestEnvironment.start({ tools: [wait] })
  const handle = await env.startProgram('import os\nmark = os.urandom(4)\nawait wait()\nprint(len(mark))')
  await called.promise
  const stopped = env.workers.stop()
  go.resolve(null)
  await stopped
  await env.workers.start()
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: '4\n' } })
  await env.expectCleanEnd(handle)
})
