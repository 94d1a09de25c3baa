import { expect, test } from 'vitest'
import { recordedTree } from '../../../test/run-tree/recorded.js'
import { directCallEstimate } from './direct-call-estimate.js'
import type { CallNode, RunTree, TurnNode } from './index.js'

const usage = (inputTokens: number) => ({ inputTokens, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 })

function turn(number: number, inputTokens: number, requestBytes: number, calls: readonly CallNode[]): TurnNode {
  const span = { startedAt: 0, endedAt: 1, attempts: 1, lastFailure: undefined }
  const reply = { model: 'm', text: '', stopReason: 'end_turn', usage: usage(inputTokens), costUsd: 0, replyBytes: 0 }
  const texts = { code: '', codeRef: undefined, output: '', outputRefs: [], error: undefined }
  const cell = { number, ...texts, status: 'ok', steps: 1, rebuilds: 0, wakes: 0, ...span } as const
  return {
    number,
    model: { status: 'ok', summary: '', requestBytes, ...reply, ...span },
    cells: calls.length > 0 ? [{ ...cell, calls }] : [],
    directCalls: [],
  }
}

/** A call that adds exactly so many bytes: its name has 3, its arguments `{}` 2. */
function call(step: number, bytes: number): CallNode {
  return {
    tool: 'get',
    summary: '',
    arguments: {},
    caller: 'code_execution',
    position: { turn: 1, cell: 1, index: 1 },
    idempotencyKey: 'key',
    step,
    startedAt: 0,
    endedAt: 1,
    attempts: 1,
    lastFailure: undefined,
    status: 'ok',
    resultPreview: '',
    resultRef: undefined,
    resultBytes: bytes - 5,
    message: undefined,
  }
}

async function run(...turns: readonly TurnNode[]): Promise<RunTree> {
  return { ...(await recordedTree('answered')), turns }
}

test('calls made together are one turn, and every result stands in all later ones', async () => {
  // The run grew by 600 bytes and 200 tokens: 3 bytes a token.
  const tree = await run(turn(1, 1_000, 100, [call(1, 3_000), call(1, 3_000), call(2, 1_500)]), turn(2, 1_200, 700, []))
  // 1,000; then with 6,000 bytes more; then with 1,500 bytes more: the answer.
  expect(directCallEstimate(tree)).toEqual({ turns: 3, inputTokens: 1_000 + 3_000 + 3_500 })
})

test('a run that has not grown measurably is counted with 4 bytes a token', async () => {
  const tree = await run(turn(1, 1_000, 100, [call(1, 400)]), turn(2, 1_001, 120, []))
  expect(directCallEstimate(tree)).toEqual({ turns: 2, inputTokens: 1_000 + 1_100 })
})

test('a measure that no language has is not believed', async () => {
  const tree = await run(turn(1, 1_000, 100, [call(1, 600)]), turn(2, 1_001, 9_000, []))
  expect(directCallEstimate(tree)).toEqual({ turns: 2, inputTokens: 1_000 + 1_100 })
})

test('a program without a model has nothing to compare', async () => {
  expect(directCallEstimate(await recordedTree('program'))).toBeUndefined()
})

test('a real run is more turns and more tokens with direct calls', async () => {
  const tree = await recordedTree('answered')
  const estimate = directCallEstimate(tree)
  // The four cities, the fifth, then what the model called itself, then its answer.
  expect(estimate?.turns).toBe(4)
  expect(estimate?.inputTokens).toBeGreaterThan(838 * 4)
})
