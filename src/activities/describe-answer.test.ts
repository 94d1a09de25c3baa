import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../common/limits.js'
import type { StepAnswer } from '../common/steps.js'
import { createRegistry } from '../tools/registry.js'
import { describeAnswer } from './describe-answer.js'

const registry = createRegistry([])

/** Temporal's own limit of a payload. */
const payloadBytes = 2 * 1024 * 1024

function described(answer: StepAnswer, outputRoom = defaultLimits.capturedCharacters): StepAnswer {
  const result = describeAnswer(answer, registry, defaultLimits, outputRoom)
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

describe('an answer of a sandbox', () => {
  it('passes as it is, but for what is made of its calls', () => {
    const answer: StepAnswer = { type: 'suspended', calls: calls(2, 10), wakeInMs: 5, output: 'said' }
    expect(described(answer)).toMatchObject(answer)
    expect(described(answer)).toMatchObject({ calls: [{ refused: { status: 'denied' } }, { index: 2 }] })
    const failed: StepAnswer = { type: 'failed', kind: 'code_error', error: 'Traceback …', output: 'said' }
    expect(described(failed)).toEqual(failed)
  })

  it.each<StepAnswer>([
    { type: 'completed', output: long },
    { type: 'failed', kind: 'timed_out', output: long, error: long },
    { type: 'suspended', output: long, calls: calls(10, 100_000), wakeInMs: null },
  ])('of type $type is cut to what Temporal takes, whatever the limits are', (answer) => {
    expect(described(answer)).toMatchObject({ type: answer.type, output: expect.stringContaining('characters cut') })
    described(answer, 10_000_000)
    expect(described(answer, 1_000)).toHaveProperty(
      'output.length',
      1_000 + '\n[... 2999000 characters cut ...]\n'.length,
    )
  })

  it.each([
    ['many small ones', 10_000, 1],
    ['a few large ones', 30, 200_000],
    ['one that is too large', 1, 6_000_000],
  ])('that makes too many calls is the end of it: %s', (_what, count, bytes) => {
    const answer: StepAnswer = { type: 'suspended', output: '', calls: calls(count, bytes), wakeInMs: null }
    expect(described(answer)).toMatchObject({ type: 'lost', cause: 'protocol' })
  })
})
