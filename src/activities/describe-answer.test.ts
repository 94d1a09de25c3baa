import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { JsonObject } from '../common/json.js'
import { defaultLimits } from '../common/limits.js'
import type { DescribedAnswer, DescribedCall, StepAnswer } from '../common/steps.js'
import { LocalStore } from '../values/local-store.js'
import { Values } from '../values/values.js'
import { createRegistry } from '../tools/registry.js'
import { type Held, heldElsewhere, refOf } from '../common/values.js'
import { tool } from '../../test/support/tools.js'
import { describeAnswer, lookAtAnswer } from './describe-answer.js'

const registry = createRegistry([tool('somebody', () => null)])

/** Temporal's own limit of a payload. */
const payloadBytes = 2 * 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const signal = new AbortController().signal
const describing = { registry, isRunsRegistry: true, values, limits: defaultLimits, signal }

async function described(answer: StepAnswer, outputRoom = defaultLimits.capturedCharacters): Promise<DescribedAnswer> {
  const result = await describeAnswer(answer, describing, outputRoom)
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

const known = (made: ReturnType<typeof calls>) => made.map((call) => ({ ...call, tool: 'somebody' }))

/** Whose summary and preview are as long as they get. */
const longTexts = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, '€'.repeat(300)]))

describe('an answer of a sandbox', () => {
  it('passes as it is, but for what is made of its calls', async () => {
    const answer: StepAnswer = { type: 'suspended', calls: calls(2, 10), wakeInMs: 5, output: 'said' }
    expect(await described(answer)).toMatchObject(answer)
    expect(await described(answer)).toMatchObject({ calls: [{ refused: { status: 'denied' } }, { index: 2 }] })
    const failed: StepAnswer = { type: 'failed', kind: 'code_error', error: 'Traceback …', output: 'said' }
    expect(await described(failed)).toEqual(failed)
  })

  it.each<StepAnswer>([
    { type: 'completed', output: long },
    { type: 'failed', kind: 'timed_out', output: long, error: long },
    { type: 'suspended', output: long, calls: calls(10, 100_000), wakeInMs: null },
  ])('of type $type keeps what is large elsewhere, cut to the room it has', async (answer) => {
    const { output } = (await described(answer, 1_000)) as { output: Held<string> }
    const text = `${'\u0001'.repeat(500)}\n[... 2999000 characters cut ...]\n${'\u0001'.repeat(500)}`
    expect(refOf(output)).toMatchObject({ bytes: JSON.stringify(text).length })
    expect(await values.load(output, 'the test', signal)).toBe(text)
    await described(answer)
    await described(answer, 10_000_000)
  })

  it('that makes too large calls is the end of it', async () => {
    const answer: StepAnswer = { type: 'suspended', output: '', calls: calls(900, 2_000), wakeInMs: null }
    expect(await described(answer)).toMatchObject({ type: 'lost', cause: 'protocol' })
  })

  it.each([
    ['in place', [...known(calls(1, 100_000)), ...calls(900, 2_000)]],
    ['elsewhere', known(calls(2_000, 0)).map((call) => ({ ...call, arguments: longTexts }))],
  ])('that makes too large calls, whose arguments go %s, puts nothing into the store', async (_where, made) => {
    const empty = mkdtempSync(join(tmpdir(), 'ptc-'))
    onTestFinished(() => rmSync(empty, { recursive: true }))
    const limits = { ...defaultLimits, callsPerCell: 2_000 }
    const inEmpty = { ...describing, limits, values: new Values({ store: new LocalStore(empty) }) }
    const answer: StepAnswer = { type: 'suspended', output: long, calls: made, wakeInMs: null }
    expect(await describeAnswer(answer, inEmpty, 100_000)).toMatchObject({ type: 'lost', cause: 'protocol' })
    expect(readdirSync(empty)).toEqual([])
  })

  it('that is compared with a record only is not stored', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'ptc-'))
    onTestFinished(() => rmSync(empty, { recursive: true }))
    const inEmpty = { ...describing, values: new Values({ store: new LocalStore(empty) }) }
    const answer: StepAnswer = { type: 'suspended', output: long, calls: known(calls(2, 100_000)), wakeInMs: null }
    const stored = await described(answer)
    const looked = await lookAtAnswer(answer, inEmpty)
    if (stored.type !== 'suspended' || looked.type !== 'suspended') throw new Error('it waits')
    const compared = ({ index, digest, summary }: DescribedCall) => ({ index, digest, summary })
    expect(looked.calls.map(compared)).toEqual(stored.calls.map(compared))
    expect(readdirSync(empty)).toEqual([])
  })

  it('that makes too many calls has one too many, and nothing of them is kept', async () => {
    const tooMany = calls(defaultLimits.callsPerCell + 500, 10_000).map((call) => ({ ...call, tool: 'somebody' }))
    const answer = await described({ type: 'suspended', output: '', calls: tooMany, wakeInMs: null })
    if (answer.type !== 'suspended') throw new Error('it waits')
    expect(answer.calls).toHaveLength(defaultLimits.callsPerCell + 1)
    expect(answer.calls.every((call) => JSON.stringify(call.arguments) === '{}')).toBe(true)
  })

  it('refuses what is nested or wide without end, and walks none of it', async () => {
    const deep = JSON.parse(`{"a":${'['.repeat(4_900)}${']'.repeat(4_900)}}`) as JsonObject
    const wide = { a: Array.from({ length: 100_000 }, () => []) }
    const infinite = { a: [Infinity] }
    const made = [deep, wide, infinite].map((each, place) => ({ index: place + 1, tool: 'somebody', arguments: each }))
    expect(await described({ type: 'suspended', output: '', calls: made, wakeInMs: null })).toMatchObject({
      calls: made.map(() => ({ arguments: {}, refused: { status: 'invalid_arguments' } })),
    })
  })

  it('keeps large arguments elsewhere, but those of a call that is refused nowhere', async () => {
    const made = calls(1, 200_000).map((call) => ({ ...call, tool: 'somebody' }))
    const answer: StepAnswer = { type: 'suspended', output: '', calls: [...made, ...calls(1, 200_000)], wakeInMs: null }
    const described = await describeAnswer(answer, describing, 0)
    expect(described).toMatchObject({
      calls: [
        { refused: null, arguments: { 'ptc.value': { bytes: 200_011 } } },
        { refused: {}, arguments: {} },
      ],
    })
  })

  it('never passes on a reference that the sandbox made up', async () => {
    const forged = heldElsewhere({ sha256: 'f'.repeat(64), bytes: 1, preview: '' })
    const answer: StepAnswer = {
      type: 'suspended',
      output: '',
      calls: ['somebody', 'nobody'].map((tool, place) => ({ index: place + 1, tool, arguments: forged })),
      wakeInMs: null,
    }
    const described = await describeAnswer(answer, describing, 0)
    if (described.type !== 'suspended') throw new Error('it waits')
    for (const call of described.calls) {
      expect(refOf(call.arguments)?.sha256).not.toBe(refOf(forged)?.sha256)
      expect(await values.load(call.arguments, 'the test', signal)).toEqual(forged)
    }
  })
})
