import { describe, expect, test } from 'vitest'
import { syntheticHistory, treeOf } from '../../../../test/fixtures/run-tree/recorded.js'
import { type HistoryEvent, RunTreeBuilder } from '../index.js'

const config = { tools: [{ name: 'get', effect: 'once' }], model: { name: 'm' }, backend: 'auto' }
const described = (index: number) => ({
  index,
  tool: 'get',
  arguments: { n: index },
  summary: 'get',
  digest: '',
  refused: null,
})
const suspended = (...indexes: readonly number[]) => ({
  type: 'suspended',
  calls: indexes.map(described),
  wakeInMs: null,
  output: `${indexes.join()}\n`,
})
const executeStep = (number: number, input: object, result: object) => ({
  name: 'session.step',
  id: String(number),
  input: { step: { number, now: 0, input } },
  result,
})
const startCell = executeStep(1, { type: 'cell', cell: 1, source: 'the code' }, suspended(1))
const deliverResult = (number: number, index: number, result: object) =>
  executeStep(number, { type: 'results', results: [{ index, outcome: { status: 'ok', value: 0 } }] }, result)
const call = (index: number) => ({
  name: 'get',
  id: `turn-0.cell-1.call-${index}`,
  input: {
    tool: 'get',
    caller: 'code_execution',
    position: { turn: 0, cell: 1, index },
    idempotencyKey: `key-${index}`,
    arguments: { n: index },
  },
  result: index,
})
const open = {
  name: 'session.open',
  input: { session: { id: 's', epoch: 1, backend: 'auto' }, reason: 'new' },
  result: { session: { id: 's', epoch: 1, backend: 'wasm' }, hostQueue: 'q', description: 'an interpreter' },
}
const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
const counts = { turns: 0, cells: 1, toolCalls: 1, usage, costUsd: 0 }
const state = {
  config,
  counts,
  codeRuntime: { session: { sandbox: { ref: { id: 's', epoch: 1, backend: 'wasm' } } } },
  cell: { number: 1, turn: 0 },
}

const loadRunConfig = { name: 'run.config', input: {}, result: config }
const first = syntheticHistory('program', { source: 'the code' }, [loadRunConfig, open, startCell, call(1)], {
  runId: 'one',
  continuedAs: 'two',
})
const second = syntheticHistory('program', { source: '' }, [deliverResult(2, 1, suspended(2)), call(2)], {
  runId: 'two',
  continues: 'one',
  continuedAs: 'three',
  state,
})
const third = syntheticHistory(
  'program',
  { source: '' },
  [deliverResult(3, 2, { type: 'completed', output: 'end\n' })],
  {
    runId: 'three',
    continues: 'two',
    state: { ...state, counts: { ...counts, toolCalls: 2 } },
    memo: { summary: 'the code' },
  },
)

describe('a run that continues as new', () => {
  test('a run that continues as new is one tree with one cell, which has each call once', async () => {
    const tree = await treeOf([...first, ...second, ...third])
    expect(tree).toMatchObject({
      type: 'program',
      source: 'the code',
      runId: 'one',
      runIds: ['one', 'two', 'three'],
      lacksBeginning: false,
      backend: 'wasm',
      totals: { cells: 1, toolCalls: 2 },
      turns: [{ number: 0, cells: [{ number: 1, code: 'the code', status: 'ok', steps: 3, output: '1\n2\nend\n' }] }],
    })
    const calls = tree.turns[0]?.cells[0]?.calls ?? []
    expect(calls.map(({ position, status }) => [position.index, status])).toEqual([
      [1, 'ok'],
      [2, 'ok'],
    ])
  })

  test('a run that continues as new stays running between two executions', async () => {
    const builder = new RunTreeBuilder()
    await builder.add(first)
    expect(builder.tree()).toMatchObject({ status: 'running', phase: { type: 'deciding' } })
    await builder.add(second.slice(0, 1))
    expect(builder.tree()).toMatchObject({ status: 'running', phase: { type: 'deciding' } })
  })

  test('a tree ignores events of a continued run that were added before', async () => {
    const all = [...first, ...second, ...third]
    const builder = new RunTreeBuilder()
    for (const [index, event] of all.entries()) {
      await builder.add([event])
      await builder.add(all.slice(0, index + 1))
    }
    expect(builder.tree()).toEqual(await treeOf(all))
  })

  test('a tree uses the given run ids, although a reset copies the first event of another execution', async () => {
    const builder = new RunTreeBuilder()
    await builder.add(first, 'one')
    await builder.add(second.slice(0, -1), 'two-again')
    expect(builder.tree()).toMatchObject({ runIds: ['one', 'two-again'], totals: { toolCalls: 2 } })
  })
})

describe('follow-up steps', () => {
  const localCalls = { turn: 0, cell: 1 }
  const at = (number: number, now: number, waited: number) => ({ number, now, waited })
  const ofStep = {
    ...startCell,
    input: { step: { number: 1, now: 0, input: { type: 'cell', cell: 1, source: 'the code' } }, localCalls },
    result: {
      ...suspended(1),
      followUps: [
        { ...at(2, 30, 20), results: [{ index: 1, outcome: { status: 'ok', value: 'found' } }], result: suspended(2) },
      ],
    },
  }
  const ofCall = {
    ...call(2),
    input: { ...call(2).input, followUp: { now: 50 } },
    result: { value: 'paid', followUps: [{ ...at(3, 90, 40), result: { type: 'completed', output: 'end\n' } }] },
  }
  const history = syntheticHistory('program', { source: 'the code' }, [loadRunConfig, open, ofStep, ofCall])
  const scheduledAt = (name: string) =>
    Number(
      history.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === name)?.eventTime
        ?.seconds,
    ) * 1_000

  test('follow-up steps and their calls are in the tree as if each were an activity', async () => {
    const tree = await treeOf(history)
    const [cell] = tree.turns[0]?.cells ?? []
    expect(cell).toMatchObject({ status: 'ok', output: '1\n2\nend\n', steps: 3 })
    expect(cell?.calls).toMatchObject([
      { tool: 'get', arguments: { n: 1 }, status: 'ok', resultPreview: '"found"', attempts: 1 },
      { tool: 'get', arguments: { n: 2 }, status: 'ok', resultPreview: '"paid"', attempts: 1 },
    ])
    expect(tree.totals.toolCalls).toBe(2)
  })

  test('a first step is in the tree as if it were an activity, and the next attempt of it changes nothing', async () => {
    const { step } = ofStep.input
    const opened = (firstStep: object | undefined) => ({
      ...open,
      input: { ...open.input, firstStep: { step } },
      result: { ...open.result, ...(firstStep && { firstStep }) },
    })
    const results = deliverResult(2, 1, { type: 'completed', output: 'end\n', closed: true })
    const cellOf = async (activities: Parameters<typeof syntheticHistory>[2]) =>
      (await treeOf(syntheticHistory('program', { source: 'the code' }, [loadRunConfig, ...activities]))).turns[0]
        ?.cells[0]
    const cell = await cellOf([opened(suspended(1)), call(1), results])
    expect(cell).toMatchObject({ code: 'the code', status: 'ok', output: '1\nend\n', steps: 2 })
    expect(cell?.calls).toMatchObject([{ tool: 'get', arguments: { n: 1 }, status: 'ok', resultPreview: '1' }])
    expect(await cellOf([opened(undefined), startCell, call(1), results])).toMatchObject({ status: 'ok', steps: 2 })
    const usage = { runMs: 700 }
    const ended = await cellOf([opened({ type: 'completed', output: '', usage })])
    expect((ended?.endedAt ?? 0) - (ended?.startedAt ?? 0)).toBe(700)
  })

  test('follow-up steps have the times at which the worker executed them', async () => {
    const [cell] = (await treeOf(history)).turns[0]?.cells ?? []
    const [start, paid] = [scheduledAt('session.step'), scheduledAt('get')]
    expect(cell?.calls).toMatchObject([
      { startedAt: start + 10, endedAt: start + 30 },
      { startedAt: paid, endedAt: paid + 40 },
    ])
  })
})

describe('a run without its first executions', () => {
  test('a run without its first executions has the other events, the carried counts, and lacksBeginning', async () => {
    const tree = await treeOf(second)
    expect(tree).toMatchObject({
      lacksBeginning: true,
      runId: 'two',
      backend: 'wasm',
      model: 'm',
      totals: { cells: 1, toolCalls: 2 },
      turns: [{ cells: [{ number: 1, status: 'running', calls: [{ position: { index: 2 }, status: 'ok' }] }] }],
    })
  })

  test("a run without its first executions has the memo's question, and the carried turn and cell", async () => {
    const suspendedCell = { toolUseId: 'use-1', cell: { number: 3, turn: 2 } }
    const agentState = {
      ...state,
      cell: undefined,
      suspendedCell,
      counts: { ...counts, turns: 2, cells: 3, costUsd: 0.5 },
    }
    const ended = executeStep(7, { type: 'results', results: [] }, { type: 'completed', output: 'end\n' })
    const events: readonly HistoryEvent[] = syntheticHistory('agent', { question: '' }, [ended], {
      runId: 'two',
      continues: 'one',
      state: agentState,
      memo: { summary: 'How many?' },
    })
    expect(await treeOf(events)).toMatchObject({
      question: 'How many?',
      totals: { turns: 2, cells: 3, toolCalls: 1, costUsd: 0.5 },
      turns: [{ number: 2, cells: [{ number: 3, status: 'ok', output: 'end\n' }] }],
    })
  })
})
