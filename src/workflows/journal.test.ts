import { describe, expect, it } from 'vitest'
import type { AdvanceAnswer, StepInput } from '../common/steps.js'
import { Journal } from './journal.js'

const cell = (number: number, source = 'x'): StepInput => ({ type: 'cell', cell: number, source })
const results = (text: string): StepInput => ({
  type: 'results',
  results: [{ index: 1, outcome: { status: 'ok', value: text } }],
})
const done: AdvanceAnswer = { type: 'completed', output: 'not kept' }
const waiting: AdvanceAnswer = {
  type: 'suspended',
  calls: [{ index: 1, tool: 'get', arguments: { a: 'not kept' }, summary: 'not kept', digest: 'd', refused: null }],
  wakeInMs: null,
  output: 'not kept',
}

function journalOf(...steps: readonly (readonly [StepInput, AdvanceAnswer])[]): Journal {
  const journal = new Journal()
  for (const [input, answer] of steps) journal.record(journal.next(input, 5), answer)
  return journal
}

describe('Journal', () => {
  it('numbers steps from 1 without gaps, and one that is taken again stays the same', () => {
    const journal = journalOf([cell(1), waiting])
    expect(journal.next(results('a'), 7)).toEqual({ number: 2, now: 7, input: results('a') })
    expect(journal.next(results('a'), 7).number).toBe(2)
  })

  it('keeps inputs whole, and of answers only what a repetition must show', () => {
    const [batch] = journalOf([cell(1), waiting], [results('a'), done]).batches()
    expect(batch).toEqual({
      first: 1,
      steps: [
        { now: 5, input: cell(1), answer: { type: 'suspended', calls: [{ index: 1, digest: 'd' }] } },
        { now: 5, input: results('a'), answer: { type: 'ended' } },
      ],
    })
    expect(JSON.stringify(batch)).not.toContain('not kept')
  })

  it('drops the current cell, and only that', () => {
    const journal = journalOf([cell(1), done], [cell(2), waiting], [results('a'), waiting])
    journal.dropCell()
    expect(journal.length).toBe(1)
    expect(journal.next(cell(3), 0).number).toBe(2)
  })

  it('drops the cell too that has not answered once', () => {
    const journal = journalOf([cell(1), done])
    journal.next(cell(2), 0)
    journal.dropCell()
    expect(journal.length).toBe(1)
  })

  it('is empty after it was cleared', () => {
    const journal = journalOf([cell(1), done])
    journal.clear()
    expect(journal.batches()).toEqual([])
    expect(journal.next(cell(2), 0).number).toBe(1)
  })

  it('cuts what is repeated into batches that Temporal takes, by bytes and not by characters', () => {
    const large = results('é'.repeat(400_000))
    const batches = journalOf([cell(1), waiting], [large, waiting], [large, waiting], [large, done]).batches()
    expect(batches.map(({ first, steps }) => [first, steps.length])).toEqual([
      [1, 2],
      [3, 1],
      [4, 1],
    ])
    for (const batch of batches) expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThan(2 * 1024 * 1024)
  })
})
