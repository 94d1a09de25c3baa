import { expect, it } from 'vitest'
import { syntheticHistory, treeOf } from '../../../../test/fixtures/run-tree/recorded.js'
import type { CellNode } from '../index.js'

const loadRunConfig = {
  name: 'run.config',
  input: {},
  result: { tools: [{ name: 'send', effect: 'once' }], model: { name: 'm' }, backend: 'anthropic' },
}
const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
const described = (message?: string) => ({
  index: 1,
  tool: 'send',
  arguments: {},
  summary: 'send()',
  digest: '',
  refused: message === undefined ? null : { status: 'denied', message },
})

interface TurnOptions {
  readonly calls?: Readonly<Record<string, object>>
  readonly pending?: readonly object[]
  readonly lost?: readonly string[]
  readonly stopReason?: string
}

function turn(number: number, content: readonly object[], options: TurnOptions = {}) {
  const { calls = {}, pending = [], lost, stopReason = 'tool_use' } = options
  const hosted = lost && { lost: { uses: lost.map((id) => ({ id, name: 'code_execution' })), reason: 'expired' } }
  return {
    name: 'model.turn',
    input: { turn: number, pending, ...(hosted && { hosted }) },
    result: { reply: { model: 'm', content, stopReason, usage, costUsd: null }, calls, conversationBytes: 1 },
  }
}

const code = (id: string) => ({ type: 'server_tool_use', id, name: 'code_execution', input: { code: `# ${id}` } })
const callOf = (codeId: string, id: string) => {
  const caller = { type: 'code_execution_20260120', tool_id: codeId }
  return { type: 'tool_use', id, name: 'send', input: {}, caller }
}
const ended = (id: string, content: object) => ({ type: 'code_execution_tool_result', tool_use_id: id, content })
const printed = (stdout: string, returnCode = 0) => ({ stdout, stderr: '', return_code: returnCode })
const activity = (turnNumber: number, cell: number, index: number) => ({
  name: 'send',
  id: `send-${turnNumber}-${index}`,
  input: {
    tool: 'send',
    caller: 'code_execution',
    position: { turn: turnNumber, cell, index },
    idempotencyKey: `key-${turnNumber}-${index}`,
    arguments: {},
  },
  result: 'sent',
})

async function cellsOf(...activities: Parameters<typeof syntheticHistory>[2]): Promise<readonly CellNode[]> {
  const tree = await treeOf(syntheticHistory('agent', { question: 'q' }, [loadRunConfig, ...activities]))
  expect(tree.turns.flatMap(({ directCalls }) => directCalls)).toEqual([])
  return tree.turns.flatMap(({ cells }) => cells)
}

it('the tree numbers the calls of a hosted cell over the turns that continue it', async () => {
  const cells = await cellsOf(
    turn(1, [code('s1'), callOf('s1', 'a')], { calls: { a: described() } }),
    activity(1, 1, 1),
    turn(2, [callOf('s1', 'b')], { calls: { b: described() } }),
    activity(2, 1, 2),
    turn(3, [ended('s1', printed('done\n')), code('s2'), ended('s2', printed('', 1))]),
  )
  expect(cells).toMatchObject([
    {
      number: 1,
      status: 'ok',
      output: 'done\n',
      steps: 3,
      calls: [
        { status: 'ok', toolUseCaller: { type: 'code_execution_20260120', tool_id: 's1' } },
        { status: 'ok', position: { turn: 2, cell: 1, index: 2 } },
      ],
    },
    { number: 2, status: 'code_error', code: '# s2' },
  ])
})

it('the tree shows why a call of hosted code without an activity was refused', async () => {
  const result = { type: 'tool_result', tool_use_id: 'b', content: '[denied] too many', is_error: true }
  const [cell] = await cellsOf(
    turn(1, [code('s1'), callOf('s1', 'a'), callOf('s1', 'b')], { calls: { a: described('no'), b: described() } }),
    turn(2, [ended('s1', printed(''))], { pending: [result] }),
  )
  expect(cell?.calls).toMatchObject([
    { status: 'denied', message: 'no' },
    { status: 'denied', message: 'too many' },
  ])
})

it('the tree ends hosted code that was lost, and hosted code that the API ended', async () => {
  const cells = await cellsOf(
    turn(1, [code('s1'), callOf('s1', 'a')], { calls: { a: described() } }),
    activity(1, 1, 1),
    turn(2, [code('s2')], { lost: ['s1'], stopReason: 'pause_turn' }),
    turn(3, [ended('s2', { error_code: 'execution_time_exceeded' })]),
  )
  expect(cells).toMatchObject([
    { number: 1, status: 'lost', calls: [{ status: 'ok' }] },
    { number: 2, status: 'timed_out', error: 'execution_time_exceeded' },
  ])
})

it('the tree shows no hosted code of a reply that did not enter the history', async () => {
  expect(await cellsOf(turn(1, [code('s1')], { stopReason: 'max_tokens' }))).toEqual([])
})
