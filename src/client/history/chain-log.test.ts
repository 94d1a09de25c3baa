import { describe, expect, test } from 'vitest'
import { handMade, treeOf } from '../../../test/run-tree/recorded.js'
import { renderTree } from '../render/render-tree.js'
import { type HistoryEvent, RunTreeBuilder } from './index.js'

const plan = { tools: [{ name: 'get', effect: 'once' }], model: { name: 'm' }, backend: 'auto' }
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
const advance = (number: number, input: object, result: object) => ({
  name: 'session.advance',
  id: String(number),
  input: { step: { number, now: 0, input } },
  result,
})
const begin = advance(1, { type: 'cell', cell: 1, source: 'the code' }, suspended(1))
const goOn = (number: number, index: number, result: object) =>
  advance(number, { type: 'results', results: [{ index, outcome: { status: 'ok', value: 0 } }] }, result)
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
  input: { session: { id: 's', epoch: 1, backend: 'auto' } },
  result: { session: { id: 's', epoch: 1, backend: 'wasm' }, hostQueue: 'q', description: 'an interpreter' },
}
const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
const counts = { turns: 0, cells: 1, toolCalls: 1, usage, costUsd: 0 }
const state = {
  plan,
  counts,
  notebook: { session: { ref: { id: 's', epoch: 1, backend: 'wasm' } } },
  cell: { number: 1, turn: 0 },
}

const planned = { name: 'run.plan', input: {}, result: plan }
const first = handMade('program', { source: 'the code' }, [planned, open, begin, call(1)], {
  runId: 'one',
  continuedAs: 'two',
})
const second = handMade('program', { source: '' }, [goOn(2, 1, suspended(2)), call(2)], {
  runId: 'two',
  continues: 'one',
  continuedAs: 'three',
  state,
})
const third = handMade('program', { source: '' }, [goOn(3, 2, { type: 'completed', output: 'end\n' })], {
  runId: 'three',
  continues: 'two',
  state: { ...state, counts: { ...counts, toolCalls: 2 } },
  memo: { summary: 'the code' },
})

describe('a run that goes on in fresh histories', () => {
  test('is one tree: its cell is one cell, and has every call once', async () => {
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

  test('runs, and does not end, where one history ends and the next begins', async () => {
    const builder = new RunTreeBuilder()
    await builder.add(first)
    expect(builder.tree()).toMatchObject({ status: 'running', phase: { type: 'deciding' } })
    await builder.add(second.slice(0, 1))
    expect(builder.tree()).toMatchObject({ status: 'running', phase: { type: 'deciding' } })
  })

  test('can be fed again from its beginning', async () => {
    const all = [...first, ...second, ...third]
    const builder = new RunTreeBuilder()
    for (const [place, event] of all.entries()) {
      await builder.add([event])
      await builder.add(all.slice(0, place + 1))
    }
    expect(builder.tree()).toEqual(await treeOf(all))
  })

  test('has the ids that the server has, though a reset gives a copy the first event of another', async () => {
    const builder = new RunTreeBuilder()
    await builder.add(first, 'one')
    await builder.add(second.slice(0, -1), 'two-again')
    expect(builder.tree()).toMatchObject({ runIds: ['one', 'two-again'], totals: { toolCalls: 2 } })
  })
})

describe('a run whose first histories are gone', () => {
  test('is drawn from what is there, with the counts it had, and says so', async () => {
    const tree = await treeOf(second)
    expect(tree).toMatchObject({
      lacksBeginning: true,
      runId: 'two',
      backend: 'wasm',
      model: 'm',
      totals: { cells: 1, toolCalls: 2 },
      turns: [{ cells: [{ number: 1, status: 'running', calls: [{ position: { index: 2 }, status: 'ok' }] }] }],
    })
    const drawn = renderTree(tree, { width: 120, color: false, now: tree.startedAt })
    expect(drawn).toContain('The server no longer has the first histories of this run')
  })

  test('of an agent knows what it is about, and goes on in the turn it was in', async () => {
    const left = { use: 'use-1', cell: { number: 3, turn: 2 } }
    const agentState = { ...state, cell: undefined, left, counts: { ...counts, turns: 2, cells: 3, costUsd: 0.5 } }
    const ended = advance(7, { type: 'results', results: [] }, { type: 'completed', output: 'end\n' })
    const events: readonly HistoryEvent[] = handMade('agent', { question: '' }, [ended], {
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
