import { describe, expect, it } from 'vitest'
import type { ValueLog } from '../common/value-log.js'
import type { ExecuteStepResult, DescribedCall, RecordedStep } from '../common/steps.js'
import { externalValue } from '../common/external-value.js'
import { countStoredBytes, payloadBytes, externalBytes } from './stored-bytes.js'

const held = (bytes: number) => externalValue({ sha256: 'a'.repeat(64), bytes, preview: '' })
const call = (args: DescribedCall['arguments']): DescribedCall => ({
  index: 1,
  tool: 'echo',
  arguments: args,
  summary: '',
  digest: '',
  refused: null,
})

describe('bytes in the value store', () => {
  it('of a payload are none while it is small, else all of its JSON', () => {
    expect(payloadBytes('x'.repeat(249_997))).toBe(0)
    expect(payloadBytes('x'.repeat(249_998))).toBe(250_000)
    expect(payloadBytes(['é'.repeat(150_000)])).toBe(300_004)
  })

  it.each<[number, ExecuteStepResult]>([
    [12, { type: 'suspended', calls: [call(held(5)), call({ n: 1 }), call(held(4))], wakeInMs: null, output: held(3) }],
    [7, { type: 'completed', output: held(7) }],
    [0, { type: 'failed', kind: 'code_error', error: 'wrong', output: 'said' }],
    [0, { type: 'lost', cause: 'gone', reason: 'gone' }],
    [0, { type: 'rebuilt' }],
  ])('that an answer refers to are %i', (bytes, answer) => {
    expect(externalBytes(answer)).toBe(bytes)
  })

  it('of an appended journal are those of each new link, and of the steps as a payload', async () => {
    const stored = { bytes: 1 }
    const link = (bytes: number): ValueLog => ({ head: { sha256: 'a', bytes, preview: '' }, segments: 1, length: 1 })
    const append = countStoredBytes(stored, () => Promise.resolve([link(10), link(100)]))
    expect(await append(null, [])).toHaveLength(2)
    expect(stored.bytes).toBe(111)
    const source = 'x'.repeat(300_000)
    const step: RecordedStep = { now: 0, input: { type: 'cell', cell: 1, source }, result: { type: 'ended' } }
    await append(null, [[step]])
    expect(stored.bytes).toBe(111 + 110 + JSON.stringify([[step]]).length)
  })
})
