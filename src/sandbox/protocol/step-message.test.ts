import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../common/json.js'
import type { Step, StepInput } from '../../common/steps.js'
import { heldElsewhere } from '../../common/values.js'
import { stepMessage, valuesOf } from './step-message.js'

const ref = (sha256: string) => ({ sha256, bytes: 9, preview: 'secret' })
const held = (sha256: string) => heldElsewhere(ref(sha256))
const step = (input: StepInput): Step => ({ number: 4, now: 7, input })
const results = (...values: readonly JsonValue[]): Step =>
  step({ type: 'results', results: values.map((value, index) => ({ index, outcome: { status: 'ok', value } })) })

describe('stepMessage', () => {
  it('names what is kept elsewhere by its hash alone, and carries what is small', () => {
    expect(stepMessage(results(held('a'), { b: 1 }), [1, 4, 1])).toEqual({
      type: 'advance',
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

  it('tells a step from another of its number, whoever sends it', () => {
    const digests = [
      stepMessage(results(1), [1, 4, 1]),
      stepMessage(results(1), [1, 4, 2]),
      stepMessage(results(2), [1, 4, 1]),
      stepMessage({ ...results(1), now: 8 }, [1, 4, 1]),
    ].map(({ digest }) => digest)
    expect(digests[1]).toBe(digests[0])
    expect(new Set(digests).size).toBe(3)
  })

  it('says how long was waited, where that is known', () => {
    const source = { type: 'cell', cell: 2, source: 'x' } as const
    expect(stepMessage({ ...step(source), waited: 3 }, [1, 4, 1])).toMatchObject({ now: 7, waited: 3 })
    expect(stepMessage({ ...results(1), waited: 3 }, [1, 4, 1])).toMatchObject({ now: 7, waited: 3 })
  })

  it('does the same for the source of a cell', () => {
    const cell = { type: 'cell', digest: expect.any(String), fence: [1, 4, 1], step: 4, now: 7, cell: 2 }
    expect(stepMessage(step({ type: 'cell', cell: 2, source: 'x' }), [1, 4, 1])).toEqual({ ...cell, source: 'x' })
    expect(stepMessage(step({ type: 'cell', cell: 2, source: held('s') }), [1, 4, 1])).toEqual({ ...cell, ref: 's' })
  })
})

describe('valuesOf', () => {
  it('gives each value once, in order, and none that is in place', () => {
    expect(valuesOf(results(held('b'), 1, held('a'), held('b'), null))).toEqual([ref('b'), ref('a')])
    expect(valuesOf(step({ type: 'cell', cell: 1, source: held('s') }))).toEqual([ref('s')])
    expect(valuesOf(step({ type: 'cell', cell: 1, source: 's' }))).toEqual([])
    expect(valuesOf(step({ type: 'stop', reason: '' }))).toEqual([])
  })
})
