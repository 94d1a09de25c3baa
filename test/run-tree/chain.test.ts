import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import type { AgentTree, RunTree } from '../../src/client/index.js'
import { patient } from '../support/patient.js'
import { answerResult, code, turn } from '../support/script.js'
import { Stack } from '../support/stack.js'
import { Happening, tool } from '../support/tools.js'

const echo = tool('echo', ({ value }) => value)
const thirty = `total = 0
for n in range(30):
    total += await echo(value=n)
    if n % 10 == 9:
        print(n, total)
`
const printed = '9 45\n19 190\n29 435\n'
/** Small enough for a run of thirty calls to go on in several. */
const limits = { historyEvents: 100 }

function callsOf({ turns }: RunTree): readonly number[] {
  return turns.flatMap(({ cells }) => cells.flatMap(({ calls }) => calls.map(({ position }) => position.index)))
}

const each = Array.from({ length: 30 }, (_, place) => place + 1)

describe('a program that goes on in fresh histories', () => {
  it('is one run for whoever follows it, shows it, lists it or waits for it', async () => {
    const stack = await Stack.start({ tools: [echo], limits })
    const { ptc } = stack
    const handle = await ptc.startProgram({ source: thirty })
    const trees: RunTree[] = []
    const watched = await handle.watch({ onChange: (tree) => trees.push(tree) })
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: printed }, toolCalls: 30 })

    expect(watched.runIds.length).toBeGreaterThan(2)
    expect(watched).toMatchObject({
      type: 'program',
      status: 'completed',
      source: thirty,
      runId: handle.runId,
      lacksBeginning: false,
      totals: { cells: 1, toolCalls: 30 },
      turns: [{ cells: [{ number: 1, status: 'ok', code: thirty, output: printed }] }],
    })
    expect(callsOf(watched)).toEqual(each)
    // It never seemed to have ended, and nothing that was there was ever gone.
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
    const listed = await listedWhen(stack, ([one, ...others]) => one?.status === 'completed' && others.length === 0)
    expect(listed).toMatchObject([{ workflowId, runId: latest, startedAt }])
    expect(listed[0]?.summary).toContain('total = 0')
  })

  it('is cancelled by the id it was started with', async () => {
    const reached = new Happening<null>()
    const wait = tool('wait', (_input, { signal }) => {
      reached.happen(null)
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const stack = await Stack.start({ tools: [echo, wait], limits })
    const handle = await stack.ptc.startProgram({ source: `${thirty}print(await wait())` })
    await reached.happened
    expect((await handle.describe()).runId).not.toBe(handle.runId)
    await handle.cancel()
    await expect(handle.result()).rejects.toMatchObject({ code: 'RUN_CANCELLED' })
    expect(await handle.tree()).toMatchObject({ status: 'cancelled', totals: { toolCalls: 31 } })
  })

  it('is drawn from what is there when its first histories are gone from the server', async () => {
    const stack = await Stack.start({ tools: [echo], limits })
    const handle = await stack.ptc.startProgram({ source: thirty })
    await handle.result()
    const whole = await handle.tree()
    const [first = '', second] = whole.runIds
    await deleteRun(stack, handle.workflowId, first)
    const rest = await stack.ptc.handle(handle.workflowId).tree()
    expect(rest).toMatchObject({ runId: second, lacksBeginning: true, status: 'completed', totals: whole.totals })
    const calls = callsOf(rest)
    expect(calls.length).toBeGreaterThan(10)
    expect(calls).toEqual(each.slice(-calls.length))
    expect(rest.turns[0]?.cells[0]?.output).toBe(printed)
  })
})

it('an agent that goes on in fresh histories keeps its question, turns and cells', async () => {
  const script = [turn(code(thirty)), turn(code('print(total)')), answerResult]
  const stack = await Stack.start({ tools: [echo], limits, script })
  const handle = await stack.ptc.startAgent({ question: 'How much is it?' })
  const tree = await handle.watch()
  expect(tree.runIds.length).toBeGreaterThan(1)
  expect(tree).toMatchObject({
    type: 'agent',
    question: 'How much is it?',
    totals: { turns: 3, cells: 2, toolCalls: 30 },
    turns: [
      { number: 1, cells: [{ number: 1, status: 'ok', output: printed }] },
      { number: 2, cells: [{ number: 2, status: 'ok', output: '435\n', calls: [] }] },
      { number: 3, cells: [] },
    ],
  })
  expect((tree as AgentTree).result).toEqual(await handle.result())
  expect(callsOf(tree)).toEqual(each)
})

it('a run that is reset after it went on in fresh histories is drawn from its first', async () => {
  const stack = await Stack.start({ tools: [echo], limits })
  const handle = await stack.ptc.startProgram({ source: thirty })
  await handle.result()
  const before = await handle.tree()
  const [first, second] = before.runIds
  const again = await resetRun(stack, handle.workflowId, second ?? '')
  const latest = stack.ptc.handle(handle.workflowId)
  expect(await latest.result()).toMatchObject({ outcome: { status: 'ok', output: printed } })
  const tree = await latest.tree()
  expect(tree.runIds.slice(0, 2)).toEqual([first, again])
  expect(tree).toMatchObject({ source: thirty, status: 'completed', totals: { toolCalls: 30 } })
  expect(callsOf(tree)).toEqual(each)
  // What was done before is still there to be seen.
  expect((await stack.ptc.handle(handle.workflowId, second).tree()).runIds).toEqual(before.runIds)
})

/** Resets to the first thing that happened in this run; gives the new one. */
async function resetRun({ client }: Stack, workflowId: string, runId: string): Promise<string> {
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

/** Visibility lags, and for each history by itself. */
async function listedWhen({ ptc }: Stack, is: (runs: Awaited<ReturnType<typeof ptc.list>>) => boolean) {
  return vi.waitUntil(async () => {
    const runs = await ptc.list()
    return is(runs) && runs
  }, patient)
}

/** As the end of its retention does. */
async function deleteRun({ client }: Stack, workflowId: string, runId: string): Promise<void> {
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
