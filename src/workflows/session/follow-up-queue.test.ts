import { describe, expect, it } from 'vitest'
import type { StepInput } from '../../common/session/steps.js'
import { FollowUpQueue, type QueuedStep } from './follow-up-queue.js'

const resultsOf = (...indices: readonly number[]) =>
  indices.map((index) => ({ index, outcome: { status: 'ok', value: index } }) as const)
const input = (...indices: readonly number[]): StepInput => ({ type: 'results', results: resultsOf(...indices) })
const queued = (number: number, ...indices: readonly number[]): QueuedStep => ({
  number,
  now: 1,
  waited: 1,
  results: resultsOf(...indices),
  result: { type: 'completed', output: '' },
})

describe('FollowUpQueue', () => {
  it('FollowUpQueue returns each step to a cell that takes it with the same number and results, in order', () => {
    const queue = new FollowUpQueue()
    queue.add([queued(2, 1), queued(3, 2, 3)])
    expect(queue.take(2, input(1))).toEqual(queued(2, 1))
    expect(queue.outcomeOf(3)).toEqual({ status: 'ok', value: 3 })
    expect(queue.take(3, input(2, 3))).toEqual(queued(3, 2, 3))
    expect(queue.take(4, input(4))).toBeUndefined()
  })

  it('FollowUpQueue has only the outcomes of the next step', () => {
    const queue = new FollowUpQueue([queued(2, 1), queued(3, 2)])
    expect([queue.outcomeOf(1), queue.outcomeOf(2)]).toEqual([{ status: 'ok', value: 1 }, undefined])
  })

  it.each<[string, number, StepInput]>([
    ['another number', 3, input(1)],
    ['another result', 2, { type: 'results', results: [{ index: 1, outcome: { status: 'ok', value: 'other' } }] }],
    ['more results', 2, input(1, 2)],
    ['a stop', 2, { type: 'stop', reason: 'interrupted' }],
  ])('FollowUpQueue is empty once the cell takes a step with %s', (_case, number, taken) => {
    const queue = new FollowUpQueue([queued(2, 1), queued(3, 2)])
    expect(queue.take(number, taken)).toBeUndefined()
    expect(queue.steps).toEqual([])
  })
})
