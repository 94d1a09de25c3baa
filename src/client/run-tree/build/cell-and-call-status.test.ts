import { describe, expect, test } from 'vitest'
import { syntheticHistory, treeOf } from '../../../../test/fixtures/run-tree/recorded.js'
import type { CellNode, RunTree } from '../index.js'

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
  input: { session: { id: 's', epoch, backend: 'auto' }, reason: epoch === 1 ? 'new' : 'rebuild' },
  result: { session: { id: 's', epoch, backend: 'wasm' }, hostQueue: 'q', description: 'an interpreter' },
})
const loadRunConfig = {
  name: 'run.config',
  input: {},
  result: { tools: [{ name: 'send', effect: 'once' }], model: { name: 'm' }, backend: 'auto' },
}
const cellStep = (cell = 1) => ({ step: { number: cell, now: 0, input: { type: 'cell', cell, source: 'code' } } })
const results = (...all: readonly object[]) => ({
  step: { number: 2, now: 1, input: { type: 'results', results: all } },
})
const executeStep = (input: object, result: object) => ({ name: 'session.step', input, result })
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
  conversationBytes: 100,
})
const executeCode = { type: 'tool_use', id: 'use-1', name: 'execute_code', input: { code: 'code' } }
const turn = (number: number, content: readonly object[], pending: readonly object[] = []) => ({
  name: 'model.turn',
  input: { turn: number, pending },
  result: reply(...content),
})
const timeout = (timeoutType: number) => ({ message: 'timed out', timeoutFailureInfo: { timeoutType } })

function program(...activities: Parameters<typeof syntheticHistory>[2]) {
  return treeOf(syntheticHistory('program', { source: 'code' }, [loadRunConfig, open(1), ...activities]))
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
  ])('a cell ends with the result of its last step: %o', async (result, expected) => {
    expect(onlyCell(await program(executeStep(cellStep(), result)))).toMatchObject(expected)
  })

  test('a cell has the uploads that could not be written before it, and its artifacts that were lost', async () => {
    const write = { type: 'file', path: '/tmp/in/a', offset: 0, content: {} }
    const refused = { type: 'failed', kind: 'code_error', error: 'it is a folder', output: '' }
    const lost = [{ path: '/tmp/out/link', problem: 'it is a link' }]
    const tree = await program(
      executeStep({ step: { number: 1, now: 0, input: write } }, refused),
      executeStep(cellStep(), { type: 'completed', output: '' }),
      { name: 'session.files', input: {}, result: { type: 'stored', files: [], lost } },
      executeStep(cellStep(2), { type: 'completed', output: '' }),
    )
    const cells = tree.turns[0]?.cells ?? []
    expect(cells.map(({ status, lostFiles }) => ({ status, lostFiles }))).toEqual([
      { status: 'ok', lostFiles: [{ path: '/tmp/in/a', problem: 'it is a folder' }, ...lost] },
      { status: 'ok', lostFiles: undefined },
    ])
  })

  test('a cell continues in a new sandbox when its sandbox is lost', async () => {
    const lost = executeStep(cellStep(), { type: 'lost', cause: 'gone', reason: 'killed' })
    expect(onlyCell(await program(lost))).toMatchObject({ status: 'running', endedAt: undefined })
    const tree = await program(lost, open(2), executeStep(cellStep(), { type: 'completed', output: 'done' }))
    expect(onlyCell(tree)).toMatchObject({ status: 'ok', rebuilds: 1, steps: 1, output: 'done' })
    expect(tree.turns[0]?.cells).toHaveLength(1)
  })

  test('a resume from parking, with or without a checkpoint, counts as a wake and not as a rebuild', async () => {
    const suspend = executeStep(cellStep(), suspended())
    const checkpointed = { name: 'session.park', input: {}, result: true }
    const closed = { name: 'session.park', input: {}, result: false }
    const reopened = open(2)
    const unparked = { ...reopened, input: { ...reopened.input, reason: 'unpark' } }
    const tree = await program(suspend, checkpointed, executeStep(results(), suspended()), closed, unparked)
    expect(onlyCell(tree)).toMatchObject({ status: 'running', rebuilds: 0, wakes: 2 })
  })

  test('a cell continues on another host when its host is lost', async () => {
    const timedOutStep = { name: 'session.step', input: cellStep(), timedOut: timeout(2) }
    const tree = await program(timedOutStep, open(2), executeStep(cellStep(), { type: 'completed', output: '' }))
    expect(onlyCell(tree)).toMatchObject({ status: 'ok', rebuilds: 1 })
  })

  test('a cell that the workflow ended has the status of its tool result', async () => {
    const toolResult = {
      type: 'tool_result',
      tool_use_id: 'use-1',
      content: 'a\n[limit_exceeded] more than 2 tool calls in one cell\nGone.',
    }
    const steps = [turn(1, [executeCode]), open(1), executeStep(cellStep(), suspended(described(1, 'read')))]
    const tree = await treeOf(
      syntheticHistory('agent', { question: '?' }, [loadRunConfig, ...steps, turn(2, [], [toolResult])]),
    )
    expect(onlyCell(tree)).toMatchObject({
      status: 'limit_exceeded',
      error: 'more than 2 tool calls in one cell',
      output: 'a\n',
    })
  })

  test('a rejected cell is not shown', async () => {
    const tree = await treeOf(
      syntheticHistory('agent', { question: '?' }, [loadRunConfig, turn(1, [executeCode]), turn(2, [])]),
    )
    expect(tree.turns[0]?.cells).toEqual([])
  })

  test('a cell of a truncated reply is not shown', async () => {
    const { result, ...rest } = turn(1, [executeCode])
    const truncated = { ...rest, result: { ...result, reply: { ...result.reply, stopReason: 'max_tokens' } } }
    const tree = await treeOf(syntheticHistory('agent', { question: '?' }, [loadRunConfig, truncated]))
    expect(tree.turns[0]).toMatchObject({ model: { stopReason: 'max_tokens' }, cells: [] })
  })
})

describe('a call', () => {
  const made = executeStep(cellStep(), suspended(described(1, 'send')))
  const callAfter = async (...activities: Parameters<typeof syntheticHistory>[2]) =>
    onlyCell(await program(made, ...activities))?.calls[0]

  test('a call of a tool with effect once has an unknown outcome when its worker is lost', async () => {
    expect(await callAfter({ ...call('send', 1, 1), timedOut: timeout(4) })).toMatchObject({
      status: 'outcome_unknown',
    })
  })

  test('a call of a repeatable tool has timed out when its workers are lost', async () => {
    const tree = await program(executeStep(cellStep(), suspended(described(1, 'read'))), {
      ...call('read', 1, 1),
      timedOut: timeout(4),
    })
    expect(onlyCell(tree)?.calls[0]).toMatchObject({ status: 'timed_out' })
  })

  test('a call without an activity has the outcome that was delivered to its code', async () => {
    const denied = { index: 1, outcome: { status: 'denied', message: 'no calls left' } }
    expect(await callAfter(executeStep(results(denied), { type: 'completed', output: '' }))).toMatchObject({
      status: 'denied',
      message: 'no calls left',
      idempotencyKey: undefined,
    })
  })

  test('a call without a free slot is waiting', async () => {
    expect(await callAfter()).toMatchObject({ status: 'waiting', endedAt: undefined })
    expect((await program(made)).phase).toEqual({ type: 'waiting_for_calls', open: 1 })
  })

  test('a call that outlives its cell gets its outcome in a step of the next cell', async () => {
    const tree = await program(
      made,
      { ...call('send', 1, 1), open: true },
      executeStep(results(), { type: 'completed', output: '' }),
      executeStep(cellStep(2), suspended(described(2, 'read'))),
      executeStep(results({ index: 1, outcome: { status: 'ok', value: 1 } }), { type: 'completed', output: '' }),
    )
    expect(tree.turns[0]?.cells).toMatchObject([
      { number: 1, status: 'ok', calls: [{ status: 'ok' }] },
      { number: 2, status: 'ok', calls: [{ status: 'waiting' }] },
    ])
  })
})
