import { expect, test } from 'vitest'
import { recordedTree } from '../../../test/fixtures/run-tree/recorded.js'
import { estimateDirectCalls } from './direct-call-estimate.js'
import type { CallNode, RunTree, TurnNode } from '../../client/run-tree/index.js'

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

/** A call that adds exactly this many bytes: its name has 3, its arguments `{}` have 2. */
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

test('the estimate of direct calls counts parallel calls as one turn, and every result in all later turns', async () => {
  // The run grew by 600 bytes and 200 tokens: 3 bytes a token.
  const tree = await run(turn(1, 1_000, 100, [call(1, 3_000), call(1, 3_000), call(2, 1_500)]), turn(2, 1_200, 700, []))
  // 1,000; then with 6,000 bytes more; then with 1,500 bytes more, for the answer.
  expect(estimateDirectCalls(tree)).toEqual({ turns: 3, inputTokens: 1_000 + 3_000 + 3_500 })
})

test('the estimate assumes 4 bytes per token for a conversation that has hardly grown', async () => {
  const tree = await run(turn(1, 1_000, 100, [call(1, 400)]), turn(2, 1_001, 120, []))
  expect(estimateDirectCalls(tree)).toEqual({ turns: 2, inputTokens: 1_000 + 1_100 })
})

test('the estimate limits an implausible number of bytes per token', async () => {
  const tree = await run(turn(1, 1_000, 100, [call(1, 600)]), turn(2, 1_001, 9_000, []))
  expect(estimateDirectCalls(tree)).toEqual({ turns: 2, inputTokens: 1_000 + 1_100 })
})

test('there is no estimate of direct calls for a program without a model', async () => {
  expect(estimateDirectCalls(await recordedTree('program'))).toBeUndefined()
})

test('the estimate has more turns and tokens than a recorded run', async () => {
  const tree = await recordedTree('answered')
  const estimate = estimateDirectCalls(tree)
  // The four cities, the fifth, then the model's own call, then its answer.
  expect(estimate?.turns).toBe(4)
  expect(estimate?.inputTokens).toBeGreaterThan(838 * 4)
})
