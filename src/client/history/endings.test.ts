import { describe, expect, test } from 'vitest'
import { handMade, treeOf } from '../../../test/run-tree/recorded.js'
import type { CellNode, RunTree } from './index.js'

const described = (index: number, tool: string) => ({
  index,
  tool,
  arguments: {},
  summary: tool,
  digest: '',
  refused: null,
})
const suspended = (...calls: readonly object[]) => ({ type: 'suspended', calls, wakeInMs: null, output: 'a\n' })
const open = (epoch: number) => ({
  name: 'session.open',
  input: { session: { id: 's', epoch, backend: 'auto' } },
  result: { session: { id: 's', epoch, backend: 'wasm' }, hostQueue: 'q', description: 'an interpreter' },
})
const plan = {
  name: 'run.plan',
  input: {},
  result: { tools: [{ name: 'send', effect: 'once' }], model: { name: 'm' }, backend: 'auto' },
}
const cellStep = (cell = 1) => ({ step: { number: cell, now: 0, input: { type: 'cell', cell, source: 'code' } } })
const results = (...all: readonly object[]) => ({
  step: { number: 2, now: 1, input: { type: 'results', results: all } },
})
const advance = (input: object, result: object) => ({ name: 'session.advance', input, result })
const call = (tool: string, cell: number, index: number) => ({
  name: tool,
  id: `${tool}-${index}`,
  input: {
    tool,
    caller: cell === 0 ? 'direct' : 'code_execution',
    position: { turn: 1, cell, index },
    idempotencyKey: `key-${index}`,
    arguments: {},
  },
})
const reply = (...content: readonly object[]) => ({
  reply: {
    model: 'm',
    content,
    stopReason: 'tool_use',
    usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
    costUsd: null,
  },
  calls: {},
})
const executeCode = { type: 'tool_use', id: 'use-1', name: 'execute_code', input: { code: 'code' } }
const turn = (number: number, content: readonly object[], told: readonly object[] = []) => ({
  name: 'model.turn',
  input: { turn: number, messages: [{ role: 'user', content: told }] },
  result: reply(...content),
})
const timeout = (timeoutType: number) => ({ message: 'timed out', timeoutFailureInfo: { timeoutType } })

function program(...activities: Parameters<typeof handMade>[2]) {
  return treeOf(handMade('program', { source: 'code' }, [plan, open(1), ...activities]))
}

function onlyCell(tree: RunTree): CellNode | undefined {
  return tree.turns[0]?.cells[0]
}

describe('a cell', () => {
  test.each([
    [
      { type: 'lost', cause: 'out_of_memory', reason: 'too much' },
      { status: 'limit_exceeded', error: 'too much' },
    ],
    [
      { type: 'lost', cause: 'killed_at_limit', reason: 'too long' },
      { status: 'timed_out', error: 'too long' },
    ],
    [
      { type: 'lost', cause: 'protocol', reason: 'noise' },
      { status: 'lost', error: 'noise' },
    ],
    [
      { type: 'diverged', reason: 'other calls' },
      { status: 'diverged', error: 'other calls' },
    ],
    [
      { type: 'failed', kind: 'timed_out', error: 'stopped', output: 'b' },
      { status: 'timed_out', output: 'b' },
    ],
  ])('ends as its last step says: %o', async (answer, expected) => {
    expect(onlyCell(await program(advance(cellStep(), answer)))).toMatchObject(expected)
  })

  test('whose sandbox is gone goes on in the next', async () => {
    const gone = advance(cellStep(), { type: 'lost', cause: 'gone', reason: 'killed' })
    expect(onlyCell(await program(gone))).toMatchObject({ status: 'running', endedAt: undefined })
    const again = await program(gone, open(2), advance(cellStep(), { type: 'completed', output: 'done' }))
    expect(onlyCell(again)).toMatchObject({ status: 'ok', rebuilds: 1, steps: 1, output: 'done' })
    expect(again.turns[0]?.cells).toHaveLength(1)
  })

  test('that was parked is no crash: kept on disk, or made again when it is woken', async () => {
    const waits = advance(cellStep(), suspended())
    const kept = { name: 'session.park', input: {}, result: true }
    const notKept = { name: 'session.park', input: {}, result: false }
    const again = open(2)
    const woken = { ...again, input: { ...again.input, after: 'parking' } }
    const tree = await program(waits, kept, advance(results(), suspended()), notKept, woken)
    expect(onlyCell(tree)).toMatchObject({ status: 'running', rebuilds: 0, wakes: 2 })
  })

  test('whose host does not answer any more goes on elsewhere', async () => {
    const silent = { name: 'session.advance', input: cellStep(), timedOut: timeout(2) }
    const tree = await program(silent, open(2), advance(cellStep(), { type: 'completed', output: '' }))
    expect(onlyCell(tree)).toMatchObject({ status: 'ok', rebuilds: 1 })
  })

  test('that was given up is what the model was told of it', async () => {
    const told = {
      type: 'tool_result',
      tool_use_id: 'use-1',
      content: 'a\n[limit_exceeded] more than 2 tool calls in one cell\nGone.',
    }
    const steps = [turn(1, [executeCode]), open(1), advance(cellStep(), suspended(described(1, 'read')))]
    const tree = await treeOf(handMade('agent', { question: '?' }, [plan, ...steps, turn(2, [], [told])]))
    expect(onlyCell(tree)).toMatchObject({
      status: 'limit_exceeded',
      error: 'more than 2 tool calls in one cell',
      output: 'a\n',
    })
  })

  test('that was refused unrun is not there', async () => {
    const tree = await treeOf(handMade('agent', { question: '?' }, [plan, turn(1, [executeCode]), turn(2, [])]))
    expect(tree.turns[0]?.cells).toEqual([])
  })

  test('in a reply that was cut is not there', async () => {
    const { result, ...rest } = turn(1, [executeCode])
    const cut = { ...rest, result: { ...result, reply: { ...result.reply, stopReason: 'max_tokens' } } }
    const tree = await treeOf(handMade('agent', { question: '?' }, [plan, cut]))
    expect(tree.turns[0]).toMatchObject({ model: { stopReason: 'max_tokens' }, cells: [] })
  })
})

describe('a call', () => {
  const made = advance(cellStep(), suspended(described(1, 'send')))
  const ending = async (...activities: Parameters<typeof handMade>[2]) =>
    onlyCell(await program(made, ...activities))?.calls[0]

  test('that must not happen twice has an unknown outcome when its worker is lost', async () => {
    expect(await ending({ ...call('send', 1, 1), timedOut: timeout(4) })).toMatchObject({ status: 'outcome_unknown' })
  })

  test('that may be repeated has timed out when its workers are lost', async () => {
    const tree = await program(advance(cellStep(), suspended(described(1, 'read'))), {
      ...call('read', 1, 1),
      timedOut: timeout(4),
    })
    expect(onlyCell(tree)?.calls[0]).toMatchObject({ status: 'timed_out' })
  })

  test('that no activity was made for is what its code was told', async () => {
    const denied = { index: 1, outcome: { status: 'denied', message: 'no calls left' } }
    expect(await ending(advance(results(denied), { type: 'completed', output: '' }))).toMatchObject({
      status: 'denied',
      message: 'no calls left',
      idempotencyKey: undefined,
    })
  })

  test('that waits for a free place is waiting', async () => {
    expect(await ending()).toMatchObject({ status: 'waiting', endedAt: undefined })
    expect((await program(made)).phase).toEqual({ type: 'waiting_for_calls', open: 1 })
  })

  test('that a cell left open may end in the next', async () => {
    const tree = await program(
      made,
      { ...call('send', 1, 1), open: true },
      advance(results(), { type: 'completed', output: '' }),
      advance(cellStep(2), suspended(described(2, 'read'))),
      advance(results({ index: 1, outcome: { status: 'ok', value: 1 } }), { type: 'completed', output: '' }),
    )
    expect(tree.turns[0]?.cells).toMatchObject([
      { number: 1, status: 'ok', calls: [{ status: 'ok' }] },
      { number: 2, status: 'ok', calls: [{ status: 'waiting' }] },
    ])
  })
})
