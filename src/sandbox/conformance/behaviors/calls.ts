import assert from 'node:assert/strict'
import type { CallOutcome } from '../../../common/calls/outcomes.js'
import type { JsonValue } from '../../../common/json/json.js'
import type { StepResult } from '../../../common/session/steps.js'
import { expectError, expectResult } from '../expectations.js'
import { echoTool } from '../session-harness.js'
import { type Behaviors, fails, inSession, prints, printsJson, readLines } from './behavior.js'

const ok = (value: JsonValue) => ({ status: 'ok' as const, value })

/** A text with characters of one to four bytes, controls, and line ends that only some languages know. */
const text = 'a\0\u0007é\u2028\u00a0漢字😀\u{10ffff}"\\'

const failures: readonly (readonly [status: Exclude<CallOutcome['status'], 'ok'>, error: string])[] = [
  ['tool_error', 'ToolError'],
  ['invalid_arguments', 'ToolError'],
  ['denied', 'ToolDenied'],
  ['timed_out', 'ToolTimedOut'],
  ['outcome_unknown', 'ToolOutcomeUnknown'],
  ['cancelled', 'ToolError'],
]

/** Tool calls of code. Tool `get` has the parameters `a`, which is required, and `b`. */
export const callBehaviors = {
  'a call takes named arguments and returns parsed JSON': printsJson([
    { a: [null, 2.5, 'x', true], b: { c: { d: [] } } },
    2.5,
  ]),
  'calls that code makes at once are one suspension': inSession(async (harness, [source = '']) => {
    const { stepResults, calls } = await harness.runCell(source)
    assert.deepEqual(typesOf(stepResults), ['suspended', 'completed'])
    assert.deepEqual(
      calls.map(({ arguments: args }) => args['a']),
      Array.from({ length: 100 }, (_, index) => index),
    )
  }),
  'calls in a loop are a suspension each': inSession(async (harness, [source = '']) => {
    const { output, stepResults } = await harness.runCell(source)
    assert.equal(output, '3\n')
    assert.equal(stepResults.length, 5)
  }),
  'code continues with the first result that arrives': inSession(async (harness, [source = '']) => {
    const { calls } = expectResult(await harness.startCell(source), 'suspended')
    const deliver = (a: string) => {
      const call = calls.find(({ arguments: args }) => args['a'] === a)
      return harness.executeStep({ type: 'results', results: [{ index: call?.index ?? 0, outcome: ok({ a }) }] })
    }
    const after = expectResult(await deliver('quick'), 'suspended')
    assert.deepEqual([after.calls, after.output], [[], 'quick\n'])
    assert.equal(expectResult(await deliver('slow'), 'completed').output, 'slow\n')
  }),
  'results in any order reach the calls they belong to': inSession(async (harness, [source = '']) => {
    const { calls } = expectResult(await harness.startCell(source), 'suspended')
    const results = calls.map(({ index, arguments: { a } }) => ({ index, outcome: ok([a ?? null]) }))
    const end = await harness.executeStep({ type: 'results', results: results.toReversed() })
    assert.deepEqual(readLines(expectResult(end, 'completed').output), [[[0], [1], [2], [3], [4]]])
  }),
  'code can take the first call that succeeds': inSession(async (harness, [source = '']) => {
    const { output, finalResult } = await harness.runCell(source, (call) =>
      call.arguments['a'] === 'bad' ? { status: 'denied', message: 'no' } : echoTool(call),
    )
    expectResult(finalResult, 'completed')
    assert.equal(output, 'good\n')
  }),
  'a failed call is an error of the class of its status, which code can catch': inSession(
    async (harness, [source = '']) => {
      const { output } = await harness.runCell(source, ({ arguments: { a } }) => ({
        status: failures.find(([status]) => status === a)?.[0] ?? 'tool_error',
        message: `about ${a as string}`,
      }))
      const expected = failures.map(([status, error]) => [error, true, `about ${status}`, 'get', status])
      assert.deepEqual(readLines(output), expected)
    },
  ),
  'a failed call that code does not catch fails the cell': inSession(async (harness, [source = '']) => {
    const { finalResult } = await harness.runCell(source, () => ({ status: 'denied', message: 'not you' }))
    expectError(finalResult, 'ToolDenied: not you')
    assert.equal(expectResult(finalResult, 'failed').kind, 'code_error')
  }),
  'arguments that JSON does not have are refused before a call is made': fails('JSON values only'),
  'a missing argument is refused before a call is made': fails(/missing ["']a["']/),
  'arguments over their limit are refused before a call is made': fails(/the limit is 1000/, {
    limits: { argumentBytes: 1_000 },
  }),
  'texts reach a tool and return with every character': inSession(async (harness, [source = '']) => {
    const { output, calls } = await harness.runCell(source, (call) =>
      call.arguments['a'] === 'text' ? ok(text) : echoTool(call),
    )
    assert.deepEqual(
      calls.map(({ arguments: args }) => args['a']),
      ['text', text],
    )
    assert.equal(output, 'same\n')
  }),
  'a number of a result reaches the next tool unchanged': inSession(async (harness, [source = '']) => {
    const numbers = [9_007_199_254_740_991, -9_007_199_254_740_991, 1.5, -0.25, 1e300, 5e-324, 0.1]
    const { calls } = await harness.runCell(source, (call) =>
      call.arguments['a'] === 'numbers' ? ok(numbers) : echoTool(call),
    )
    assert.deepEqual(calls.at(-1)?.arguments['a'], numbers)
  }),
  'more arguments than fit into one suspension are sent in several': inSession(async (harness, [source = '']) => {
    let suspension = expectResult(await harness.startCell(source), 'suspended')
    assert.equal(suspension.wakeInMs, 0)
    const calls = [...suspension.calls]
    while (suspension.wakeInMs === 0) {
      suspension = expectResult(await harness.executeStep({ type: 'results', results: [] }), 'suspended')
      calls.push(...suspension.calls)
    }
    assert.equal(suspension.wakeInMs, null)
    assert.equal(calls.length, 12)
    const results = calls.map(({ index }) => ({ index, outcome: ok(1) }))
    assert.equal(expectResult(await harness.executeStep({ type: 'results', results }), 'completed').output, '12\n')
  }),
  'results of many megabytes arrive in one step': inSession(async (harness, [source = '']) => {
    const { output } = await harness.runCell(source, () => ok('y'.repeat(900_000)))
    assert.equal(output, '7200000\n')
  }),
  'a value by reference arrives in pieces, and whole': inSession(async (harness, [source = '']) => {
    const value = harness.storeValue({ items: Array.from({ length: 100_000 }, (_, id) => ({ id, name: 'é😀' })) })
    const { output } = await harness.runCell(source, () => ({ status: 'ok', value }))
    assert.deepEqual(readLines(output), [[100_000, 99_999, true]])
  }),
  'a call that nothing awaits is not made, and causes one hint': prints(
    'done\n[hint] get() was called but never awaited: write `await get(...)`.\nnext\n',
  ),
  'the result of a call that a cell left pending arrives in the next cell': prints(
    /^\[hint\] 1 tool calls were still open[^\n]*\nlater\n$/,
  ),
} satisfies Behaviors

function typesOf(stepResults: readonly StepResult[]): readonly string[] {
  return stepResults.map(({ type }) => type)
}
