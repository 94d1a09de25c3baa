import { expect, test } from 'vitest'
import type { RunTree } from '../../client/index.js'
import { PtcError } from '../../common/errors.js'
import { infrastructureDelay, isVerdict, mayHaveUnknownCost, mayPassLater } from './classify-error.js'
import { hasModelReply, hasOpenUsage, hasVerified } from './observed-run.js'

test.each([
  ['MODEL_REPLY_INVALID', true, true, true],
  ['MODEL_AUTH', false, false, false],
  ['MODEL_TIMEOUT', false, true, true],
  ['MODEL_RATE_LIMIT', false, false, true],
  ['SANDBOX_LOST', false, false, true],
  ['RUN_INPUT_INVALID', false, false, false],
] as const)('%s: verdict %s, unknown cost %s, another attempt %s', (code, verdict, unknown, again) => {
  const error = new PtcError(code, 'it failed')
  expect(isVerdict(error)).toBe(verdict)
  expect(mayHaveUnknownCost(error)).toBe(unknown)
  expect(mayPassLater({ state: 'error', kind: code })).toBe(again)
  expect(mayPassLater({ state: 'failed', kind: code })).toBe(false)
})

/** A tree with the parts that decide. */
function treeOf(parts: object): RunTree {
  return { unserved: [], turns: [], phase: { type: 'deciding' }, ...parts } as unknown as RunTree
}

const failing = { model: { status: 'running', lastFailure: { message: 'overloaded' } }, cells: [], directCalls: [] }

test.each([
  [{ unserved: [{}] }, 'no worker serves a task queue of the run'],
  [{ phase: { type: 'opening_sandbox' } }, 'its sandbox was not ready'],
  [{ phase: { type: 'model', turn: 1 }, turns: [failing] }, 'requests to its model failed: overloaded'],
  [{ phase: { type: 'running_code', cell: 1 } }, undefined],
])('a run at its time limit with %j was slow because: %s', (parts, reason) => {
  expect(infrastructureDelay(treeOf(parts))).toBe(reason)
})

test('a model that works, and a sub-agent that runs, have usage that is not known yet', () => {
  const call = (status: string) => ({ workflowId: 'child', status })
  expect(hasOpenUsage(treeOf({ phase: { type: 'model', turn: 1 } }))).toBe(true)
  expect(hasOpenUsage(treeOf({ turns: [{ directCalls: [call('running')], cells: [] }] }))).toBe(true)
  expect(hasOpenUsage(treeOf({ turns: [{ directCalls: [], cells: [{ calls: [call('ok')] }] }] }))).toBe(false)
})

test('a run has a reply of its model only when the history has one', () => {
  expect(hasModelReply(treeOf({ turns: [{ model: { status: 'failed' } }, { model: undefined }] }))).toBe(false)
  expect(hasModelReply(treeOf({ turns: [{ model: { status: 'ok' } }] }))).toBe(true)
})

test('a model has checked its work when a cell with an assertion or a call of a named tool succeeded', () => {
  const cell = (code: string, status = 'ok') => ({ number: 1, turn: 1, code, status, output: '' })
  const call = {
    tool: 'run_tests',
    arguments: {},
    status: 'ok',
    caller: 'direct',
    turn: 1,
    cell: 0,
    resultPreview: '',
    message: '',
  }
  expect(hasVerified({ cells: [cell('x = 1\n  assert x == 1')], calls: [] }, [])).toBe(true)
  expect(hasVerified({ cells: [cell('assert False', 'code_error')], calls: [] }, [])).toBe(false)
  expect(hasVerified({ cells: [cell('print("assert x")')], calls: [] }, [])).toBe(false)
  expect(hasVerified({ cells: [], calls: [call] }, ['run_tests'])).toBe(true)
  expect(hasVerified({ cells: [], calls: [{ ...call, status: 'tool_error' }] }, ['run_tests'])).toBe(false)
})
