import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import type { AgentTree, RunTree } from '../../../../src/client/run-tree/index.js'
import { pollOptions } from '../../../support/poll-options.js'
import { answerResult, code, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

const echo = tool('echo', ({ value }) => value)
const sixtyCalls = `total = 0
for n in range(60):
    total += await echo(value=n)
    if n % 20 == 19:
        print(n, total)
`
const expectedOutput = '19 190\n39 780\n59 1770\n'
/** Small enough for a run of sixty calls to continue as new several times. */
const limits = { historyEvents: 100 }

function callsOf({ turns }: RunTree): readonly number[] {
  return turns.flatMap(({ cells }) => cells.flatMap(({ calls }) => calls.map(({ position }) => position.index)))
}

const allIndexes = Array.from({ length: 60 }, (_, place) => place + 1)

describe('a program that continues as new', () => {
  it('a program that continues as new is one run for watching, showing, listing and waiting', async () => {
    const env = await TestEnvironment.start({ tools: [echo], limits })
    const { ptc } = env
    const handle = await ptc.startProgram({ source: sixtyCalls })
    const trees: RunTree[] = []
    const watched = await handle.watch({ onChange: (tree) => trees.push(tree) })
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: expectedOutput }, toolCalls: 60 })

    expect(watched.runIds.length).toBeGreaterThan(2)
    expect(watched).toMatchObject({
      type: 'program',
      status: 'completed',
      source: sixtyCalls,
      runId: handle.runId,
      lacksBeginning: false,
      totals: { cells: 1, toolCalls: 60 },
      turns: [{ cells: [{ number: 1, status: 'ok', code: sixtyCalls, output: expectedOutput }] }],
    })
    expect(callsOf(watched)).toEqual(allIndexes)
    // Only the last tree had ended, and no call ever disappeared.
    expect(trees.filter(({ status }) => status !== 'running')).toHaveLength(1)
    const counts = trees.map((tree) => callsOf(tree).length)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))

    const { workflowId } = handle
    const [latest] = watched.runIds.slice(-1)
    for (const runId of [undefined, ...watched.runIds]) {
      expect(await ptc.handle(workflowId, runId).tree()).toEqual(watched)
    }
    expect(await ptc.handle(workflowId, watched.runIds[1]).result()).toMatchObject({ outcome: { status: 'ok' } })
    const startedAt = new Date(watched.startedAt)
    expect(await handle.describe()).toMatchObject({ status: 'completed', runId: latest, startedAt })
    const listed = await waitForListing(env, ([one, ...others]) => one?.status === 'completed' && others.length === 0)
    expect(listed).toMatchObject([{ workflowId, runId: latest, startedAt }])
    expect(listed[0]?.summary).toContain('total = 0')
  })

  it('a program that continues as new is cancelled by the run id of its first execution', async () => {
    const reached = new Deferred()
    const wait = tool('wait', (_input, { signal }) => {
      reached.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const env = await TestEnvironment.start({ tools: [echo, wait], limits })
    const handle = await env.ptc.startProgram({ source: `${sixtyCalls}print(await wait())` })
    await reached.promise
    expect((await handle.describe()).runId).not.toBe(handle.runId)
    await handle.cancel()
    await expect(handle.result()).rejects.toMatchObject({ code: 'RUN_CANCELLED' })
    expect(await handle.tree()).toMatchObject({ status: 'cancelled', totals: { toolCalls: 61 } })
  })

  it('a program has a tree of its remaining executions when the server has deleted the first ones', async () => {
    const env = await TestEnvironment.start({ tools: [echo], limits })
    const handle = await env.ptc.startProgram({ source: sixtyCalls })
    await handle.result()
    const whole = await handle.tree()
    const [first = '', second] = whole.runIds
    await deleteRun(env, handle.workflowId, first)
    const rest = await env.ptc.handle(handle.workflowId).tree()
    expect(rest).toMatchObject({ runId: second, lacksBeginning: true, status: 'completed', totals: whole.totals })
    const calls = callsOf(rest)
    expect(calls.length).toBeGreaterThan(10)
    expect(calls).toEqual(allIndexes.slice(-calls.length))
    expect(rest.turns[0]?.cells[0]?.output).toBe(expectedOutput)
  })
})

it('an agent that continues as new keeps its question, turns and cells', async () => {
  const script = [turn(code(sixtyCalls)), turn(code('print(total)')), answerResult]
  const env = await TestEnvironment.start({ tools: [echo], limits, script })
  const handle = await env.ptc.startAgent({ question: 'How much is it?' })
  const tree = await handle.watch()
  expect(tree.runIds.length).toBeGreaterThan(1)
  expect(tree).toMatchObject({
    type: 'agent',
    question: 'How much is it?',
    totals: { turns: 3, cells: 2, toolCalls: 60 },
    turns: [
      { number: 1, cells: [{ number: 1, status: 'ok', output: expectedOutput }] },
      { number: 2, cells: [{ number: 2, status: 'ok', output: '1770\n', calls: [] }] },
      { number: 3, cells: [] },
    ],
  })
  expect((tree as AgentTree).result).toEqual(await handle.result())
  expect(callsOf(tree)).toEqual(allIndexes)
})

it('a run that is reset after it continued as new has a tree from its first execution', async () => {
  const env = await TestEnvironment.start({ tools: [echo], limits })
  const handle = await env.ptc.startProgram({ source: sixtyCalls })
  await handle.result()
  const before = await handle.tree()
  const [first, second] = before.runIds
  const again = await resetRun(env, handle.workflowId, second ?? '')
  const latest = env.ptc.handle(handle.workflowId)
  expect(await latest.result()).toMatchObject({ outcome: { status: 'ok', output: expectedOutput } })
  const tree = await latest.tree()
  expect(tree.runIds.slice(0, 2)).toEqual([first, again])
  expect(tree).toMatchObject({ source: sixtyCalls, status: 'completed', totals: { toolCalls: 60 } })
  expect(callsOf(tree)).toEqual(allIndexes)
  // The turns before the reset are in the tree.
  expect((await env.ptc.handle(handle.workflowId, second).tree()).runIds).toEqual(before.runIds)
})

/** Resets an execution to its first workflow task; returns the new run id. */
async function resetRun({ client }: TestEnvironment, workflowId: string, runId: string): Promise<string> {
  const { workflowService, options } = client
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory()
  const done = events?.find(({ workflowTaskCompletedEventAttributes: completed }) => completed)
  const { runId: again } = await workflowService.resetWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: done?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'test',
  })
  return again
}

/** Waits for a listing, because visibility lags for each execution separately. */
async function waitForListing({ ptc }: TestEnvironment, is: (runs: Awaited<ReturnType<typeof ptc.list>>) => boolean) {
  return vi.waitUntil(async () => {
    const runs = await ptc.list()
    return is(runs) && runs
  }, pollOptions)
}

/** Deletes an execution, as the end of its retention period does. */
async function deleteRun({ client }: TestEnvironment, workflowId: string, runId: string): Promise<void> {
  const { workflowService, options } = client
  await workflowService.deleteWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId, runId },
  })
  const deleted = client.workflow.getHandle(workflowId, runId)
  await expect
    .poll(() =>
      deleted.describe().then(
        () => 'there',
        () => 'gone',
      ),
    )
    .toBe('gone')
}
