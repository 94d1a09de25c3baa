import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../common/json/json.js'
import type { Step, StepInput } from '../../common/session/steps.js'
import { externalValue } from '../../common/json/external-value.js'
import { stepMessage, referencedValues } from './step-message.js'

const ref = (sha256: string) => ({ sha256, bytes: 9, preview: 'secret' })
const external = (sha256: string) => externalValue(ref(sha256))
const step = (input: StepInput): Step => ({ number: 4, now: 7, input })
const results = (...values: readonly JsonValue[]): Step =>
  step({ type: 'results', results: values.map((value, index) => ({ index, outcome: { status: 'ok', value } })) })

describe('stepMessage', () => {
  it('the message of a step contains the hash of an external result, and an inline result itself', () => {
    expect(stepMessage(results(external('a'), { b: 1 }), [1, 4, 1])).toEqual({
      type: 'resume',
      digest: expect.any(String),
      fence: [1, 4, 1],
      step: 4,
      now: 7,
      results: [
        { call: 0, outcome: { status: 'ok', ref: 'a' } },
        { call: 1, outcome: { status: 'ok', value: { b: 1 } } },
      ],
    })
  })

  it('the digest of a step depends on its content, and not on the fence and the times', () => {
    const digests = [
      stepMessage(results(1), [1, 4, 1]),
      stepMessage(results(1), [1, 4, 2]),
      stepMessage(results(2), [1, 4, 1]),
      stepMessage({ ...results(1), now: 8 }, [1, 4, 1]),
    ].map(({ digest }) => digest)
    expect(digests[1]).toBe(digests[0])
    expect(digests[3]).toBe(digests[0])
    expect(digests[2]).not.toBe(digests[0])
  })

  it('the message of a cell names its language, which its digest covers', () => {
    const message = (language?: string) =>
      stepMessage(step({ type: 'cell', cell: 2, source: 'x', ...(language !== undefined && { language }) }), [1, 4, 1])
    expect(message('bash')).toMatchObject({ type: 'cell', source: 'x', language: 'bash' })
    expect(message()).not.toHaveProperty('language')
    expect(new Set([message(), message('bash'), message('python')].map(({ digest }) => digest)).size).toBe(3)
  })

  it('the message of a step contains the waiting time if it is known', () => {
    const source = { type: 'cell', cell: 2, source: 'x' } as const
    expect(stepMessage({ ...step(source), waited: 3 }, [1, 4, 1])).toMatchObject({ now: 7, waited: 3 })
    expect(stepMessage({ ...results(1), waited: 3 }, [1, 4, 1])).toMatchObject({ now: 7, waited: 3 })
  })

  it('the message of a cell contains the hash of an external source', () => {
    const cell = { type: 'cell', digest: expect.any(String), fence: [1, 4, 1], step: 4, now: 7, cell: 2 }
    expect(stepMessage(step({ type: 'cell', cell: 2, source: 'x' }), [1, 4, 1])).toEqual({ ...cell, source: 'x' })
    expect(stepMessage(step({ type: 'cell', cell: 2, source: external('s') }), [1, 4, 1])).toEqual({
      ...cell,
      ref: 's',
    })
  })
})

describe('referencedValues', () => {
  it('referencedValues returns each external value once, in order', () => {
    expect(referencedValues(results(external('b'), 1, external('a'), external('b'), null))).toEqual([
      ref('b'),
      ref('a'),
    ])
    expect(referencedValues(step({ type: 'cell', cell: 1, source: external('s') }))).toEqual([ref('s')])
    expect(referencedValues(step({ type: 'cell', cell: 1, source: 's' }))).toEqual([])
    expect(referencedValues(step({ type: 'stop', reason: '' }))).toEqual([])
  })
})
