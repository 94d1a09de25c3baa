import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { callDigest } from '../../common/calls/call-identity.js'
import type { JsonObject } from '../../common/json/json.js'
import { capturedCharacters, defaultLimits } from '../../common/run/limits.js'
import type { DescribedStepResult, DescribedCall, StepResult } from '../../common/session/steps.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { defineTool } from '../../tools/define-tool.js'
import { createRegistry } from '../../tools/registry.js'
import { type Externalizable, externalValue, refOf } from '../../common/json/external-value.js'
import { tool } from '../../../test/support/tools.js'
import { describeStepResult, inspectStepResult } from './describe-step-result.js'

const registry = createRegistry([tool('somebody', () => null)])

/** Temporal's limit for a payload. */
const payloadBytes = 2 * 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const signal = new AbortController().signal
const options = { registry, registryMatchesRun: true, values, limits: defaultLimits, signal }

async function describeChecked(stepResult: StepResult, outputLimit = capturedCharacters): Promise<DescribedStepResult> {
  const result = await describeStepResult(stepResult, options, outputLimit)
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(payloadBytes)
  return result
}

const long = '\u0001'.repeat(3_000_000)
const calls = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, index) => ({
    index: index + 1,
    tool: 'nobody',
    arguments: { text: 'x'.repeat(bytes) },
  }))

const known = (requested: ReturnType<typeof calls>) => requested.map((call) => ({ ...call, tool: 'somebody' }))

/** Arguments that give a summary and a preview of maximum length. */
const longTexts = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, '€'.repeat(300)]))

describe('describeStepResult', () => {
  it('describeStepResult returns a small result unchanged, with described calls', async () => {
    const result: StepResult = { type: 'suspended', calls: calls(2, 10), wakeInMs: 5, output: 'printed' }
    expect(await describeChecked(result)).toMatchObject(result)
    expect(await describeChecked(result)).toMatchObject({ calls: [{ refused: { status: 'denied' } }, { index: 2 }] })
    const failed: StepResult = { type: 'failed', kind: 'code_error', error: 'Traceback …', output: 'printed' }
    expect(await describeChecked(failed)).toEqual(failed)
  })

  it.each<StepResult>([
    { type: 'completed', output: long },
    { type: 'failed', kind: 'timed_out', output: long, error: long },
    { type: 'suspended', output: long, calls: calls(10, 100_000), wakeInMs: null },
  ])('large output of a result of type $type is truncated to the limit and externalized', async (result) => {
    const { output } = (await describeChecked(result, 1_000)) as { output: Externalizable<string> }
    const text = `${'\u0001'.repeat(500)}\n[... 2999000 characters cut ...]\n${'\u0001'.repeat(500)}`
    expect(refOf(output)).toMatchObject({ bytes: JSON.stringify(text).length })
    expect(await values.load(output, 'the test', signal)).toBe(text)
    await describeChecked(result)
    await describeChecked(result, 10_000_000)
  })

  it('a step is lost when its calls exceed the byte limit', async () => {
    const result: StepResult = { type: 'suspended', output: '', calls: calls(900, 2_000), wakeInMs: null }
    expect(await describeChecked(result)).toMatchObject({ type: 'lost', cause: 'protocol' })
  })

  it.each([
    ['inline', [...known(calls(1, 100_000)), ...calls(900, 2_000)]],
    ['external', known(calls(2_000, 0)).map((call) => ({ ...call, arguments: longTexts }))],
  ])('nothing is stored when calls with %s arguments exceed the byte limit', async (_kind, requested) => {
    const empty = mkdtempSync(join(tmpdir(), 'ptc-'))
    onTestFinished(() => rmSync(empty, { recursive: true }))
    const limits = { ...defaultLimits, callsPerCell: 2_000 }
    const inEmpty = { ...options, limits, values: new Values({ store: new LocalStore(empty) }) }
    const result: StepResult = { type: 'suspended', output: long, calls: requested, wakeInMs: null }
    expect(await describeStepResult(result, inEmpty, 100_000)).toMatchObject({ type: 'lost', cause: 'protocol' })
    expect(readdirSync(empty)).toEqual([])
  })

  it('inspectStepResult describes the same calls, and stores nothing', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'ptc-'))
    onTestFinished(() => rmSync(empty, { recursive: true }))
    const inEmpty = { ...options, values: new Values({ store: new LocalStore(empty) }) }
    const result: StepResult = { type: 'suspended', output: long, calls: known(calls(2, 100_000)), wakeInMs: null }
    const stored = await describeChecked(result)
    const inspected = await inspectStepResult(result, inEmpty)
    if (stored.type !== 'suspended' || inspected.type !== 'suspended') throw new Error('not suspended')
    const compared = ({ index, digest, summary }: DescribedCall) => ({ index, digest, summary })
    expect(inspected.calls.map(compared)).toEqual(stored.calls.map(compared))
    expect(readdirSync(empty)).toEqual([])
  })

  it('one call over the limit of calls is kept, without arguments', async () => {
    const tooMany = calls(defaultLimits.callsPerCell + 500, 10_000).map((call) => ({ ...call, tool: 'somebody' }))
    const result = await describeChecked({ type: 'suspended', output: '', calls: tooMany, wakeInMs: null })
    if (result.type !== 'suspended') throw new Error('not suspended')
    expect(result.calls).toHaveLength(defaultLimits.callsPerCell + 1)
    expect(result.calls.every((call) => JSON.stringify(call.arguments) === '{}')).toBe(true)
  })

  it('arguments that are too deep, too wide or not JSON are refused and dropped', async () => {
    const deep = JSON.parse(`{"a":${'['.repeat(4_900)}${']'.repeat(4_900)}}`) as JsonObject
    const wide = { a: Array.from({ length: 100_000 }, () => []) }
    const infinite = { a: [Infinity] }
    const requested = [deep, wide, infinite].map((args, position) => ({
      index: position + 1,
      tool: 'somebody',
      arguments: args,
    }))
    expect(await describeChecked({ type: 'suspended', output: '', calls: requested, wakeInMs: null })).toMatchObject({
      calls: requested.map(() => ({ arguments: {}, refused: { status: 'invalid_arguments' } })),
    })
  })

  it('large arguments are externalized, and those of a refused call are dropped', async () => {
    const requested = [...known(calls(1, 200_000)), ...calls(1, 200_000)]
    const result: StepResult = { type: 'suspended', output: '', calls: requested, wakeInMs: null }
    const described = await describeStepResult(result, options, 0)
    expect(described).toMatchObject({
      calls: [
        { refused: null, arguments: { 'ptc.value': { bytes: 200_011 } } },
        { refused: {}, arguments: {} },
      ],
    })
  })

  it('a forged reference in a step result is externalized', async () => {
    const forged = externalValue({ sha256: 'f'.repeat(64), bytes: 1, preview: '' })
    const result: StepResult = {
      type: 'suspended',
      output: '',
      calls: ['somebody', 'nobody'].map((tool, position) => ({ index: position + 1, tool, arguments: forged })),
      wakeInMs: null,
    }
    const described = await describeStepResult(result, options, 0)
    if (described.type !== 'suspended') throw new Error('not suspended')
    for (const call of described.calls) {
      expect(refOf(call.arguments)?.sha256).not.toBe(refOf(forged)?.sha256)
      expect(await values.load(call.arguments, 'the test', signal)).toEqual(forged)
    }
  })
})

describe('calls with slow checks', () => {
  it('calls with slow checks are refused, after the third without a check, and leave time for other work', async () => {
    const input = z.object({ text: z.string().regex(/^(a+)+$/) })
    const slow = defineTool({
      name: 'slow',
      description: 'x',
      input,
      output: z.null(),
      effect: 'read',
      run: () => null,
    })
    const text = `${'a'.repeat(60)}!`
    const requested = Array.from({ length: 50 }, (_, n) => ({ index: n + 1, tool: 'slow', arguments: { text } }))
    let turns = 0
    const timer = setInterval(() => turns++, 10)
    onTestFinished(() => clearInterval(timer))
    const result = await inspectStepResult(
      { type: 'suspended', calls: requested, wakeInMs: null, output: '' },
      { ...options, registry: createRegistry([slow]) },
    )
    const calls = result.type === 'suspended' ? result.calls : []
    const outcomes = calls.map(({ refused }) => refused)
    // A rebuild on a faster machine checks them, and finds the same calls.
    expect(new Set(calls.map(({ digest }) => digest))).toEqual(new Set([callDigest('slow', { text })]))
    const messages = outcomes.map((refused) => JSON.stringify(refused))
    expect(messages.filter((message) => message.includes('the check took more than'))).toHaveLength(3)
    expect(messages.filter((message) => message.includes('took too long to check'))).toHaveLength(47)
    expect(turns).toBeGreaterThan(20)
  })
})
