import { describe, expect, it } from 'vitest'
import type { ValueLog } from '../../common/json/value-log.js'
import type { ExecuteStepResult, DescribedCall, RecordedStep } from '../../common/session/steps.js'
import { externalValue } from '../../common/json/external-value.js'
import { testRun } from '../../../test/support/workflow/test-run.js'
import { countStoredBytes, payloadBytes, externalBytes } from './stored-bytes.js'

const external = (bytes: number) => externalValue({ sha256: 'a'.repeat(64), bytes, preview: '' })
const call = (args: DescribedCall['arguments']): DescribedCall => ({
  index: 1,
  tool: 'echo',
  arguments: args,
  summary: '',
  digest: '',
  refused: null,
})

describe('stored bytes', () => {
  it('the stored bytes of a payload are its whole JSON, and 0 for a small payload', () => {
    expect(payloadBytes('x'.repeat(249_997))).toBe(0)
    expect(payloadBytes('x'.repeat(249_998))).toBe(250_000)
    expect(payloadBytes(['é'.repeat(150_000)])).toBe(300_004)
  })

  it.each<[number, ExecuteStepResult]>([
    [
      12,
      {
        type: 'suspended',
        calls: [call(external(5)), call({ n: 1 }), call(external(4))],
        wakeInMs: null,
        output: external(3),
      },
    ],
    [7, { type: 'completed', output: external(7) }],
    [0, { type: 'failed', kind: 'code_error', error: 'wrong', output: 'printed' }],
    [0, { type: 'lost', cause: 'gone', reason: 'gone' }],
    [0, { type: 'rebuilt' }],
  ])('the stored bytes of the external values in a step result are %i', (bytes, result) => {
    expect(externalBytes(result)).toBe(bytes)
  })

  it('the stored bytes of a journal are those of each new segment, and of the steps as a payload', async () => {
    const stored = testRun({ storedBytes: 1 })
    const log = (bytes: number): ValueLog => ({ head: { sha256: 'a', bytes, preview: '' }, segments: 1, length: 1 })
    const append = countStoredBytes(stored, () => Promise.resolve([log(10), log(100)]))
    expect(await append(null, [])).toHaveLength(2)
    expect(stored.state.storedBytes).toBe(111)
    const source = 'x'.repeat(300_000)
    const step: RecordedStep = { now: 0, input: { type: 'cell', cell: 1, source }, result: { type: 'ended' } }
    await append(null, [[step]])
    expect(stored.state.storedBytes).toBe(111 + 110 + JSON.stringify([[step]]).length)
  })
})
