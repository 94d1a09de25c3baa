import { describe, expect, it } from 'vitest'
import type { Chain } from '../common/chain.js'
import type { AdvanceAnswer, RecordedStep, StepInput } from '../common/steps.js'
import { type Append, Journal } from './journal.js'

const cell = (number: number, source = 'x'): StepInput => ({ type: 'cell', cell: number, source })
const results = (text: string): StepInput => ({
  type: 'results',
  results: [{ index: 1, outcome: { status: 'ok', value: text } }],
})
const done: AdvanceAnswer = { type: 'completed', output: 'not kept' }
const call = { index: 1, tool: 'get', arguments: { a: 'not kept' }, summary: 'get a', digest: 'd', refused: null }
const waiting: AdvanceAnswer = {
  type: 'suspended',
  calls: [call],
  wakeInMs: null,
  output: 'not kept',
}

function journalOf(...steps: readonly (readonly [StepInput, AdvanceAnswer])[]): Journal {
  const journal = new Journal()
  add(journal, ...steps)
  return journal
}

function add(journal: Journal, ...steps: readonly (readonly [StepInput, AdvanceAnswer])[]): void {
  for (const [input, answer] of steps) journal.record(journal.next(input, 5), answer)
}

/** Keeps what is appended, by the name of the chain. */
class Kept {
  readonly steps = new Map<string, readonly RecordedStep[]>()

  readonly append: Append = async (to, lists) => {
    const chains: Chain[] = []
    for (const list of lists) {
      const before = chains.at(-1) ?? to
      const all = [...this.of(before), ...list]
      const sha256 = `chain-${this.steps.size}`
      this.steps.set(sha256, all)
      chains.push({ head: { sha256, bytes: 1, preview: '' }, nodes: (before?.nodes ?? 0) + 1, items: all.length })
    }
    return chains
  }

  of(chain: Chain | null): readonly RecordedStep[] {
    return this.steps.get(chain?.head.sha256 ?? '') ?? []
  }

  inputs({ steps: { earlier, latest } }: Journal): StepInput[] {
    return [...this.of(earlier), ...latest].map(({ input }) => input)
  }
}

describe('Journal', () => {
  it('numbers steps from 1 without gaps, and one that is taken again stays the same', () => {
    const journal = journalOf([cell(1), waiting])
    expect(journal.next(results('a'), 7)).toEqual({ number: 2, now: 7, input: results('a') })
    expect(journal.next(results('a'), 7).number).toBe(2)
  })

  it('keeps inputs whole, and of answers only what a repetition must show', () => {
    const { steps } = journalOf([cell(1), waiting], [results('a'), done])
    expect(steps).toEqual({
      earlier: null,
      latest: [
        { now: 5, input: cell(1), answer: { type: 'suspended', calls: [{ index: 1, digest: 'd', summary: 'get a' }] } },
        { now: 5, input: results('a'), answer: { type: 'ended' } },
      ],
    })
    expect(JSON.stringify(steps)).not.toContain('not kept')
  })

  it('keeps how long was waited before a step, which a repetition is told again', () => {
    const journal = new Journal()
    journal.record(journal.next(cell(1), 5, 3), done)
    expect(journal.steps.latest).toMatchObject([{ now: 5, waited: 3 }])
  })

  it("keeps the beginning of a call's summary, which does not make it larger", () => {
    const summary = `say ${'🎈'.repeat(200)}`
    const calls = Array.from({ length: 1_000 }, (_, index) => ({ ...call, index, summary }))
    const journal = journalOf([cell(1), { ...waiting, calls }])
    expect(JSON.stringify(journal.steps)).toContain(`"say ${'🎈'.repeat(76)}…"`)
    expect(journal.isLarge).toBe(false)
  })

  it('drops the current cell, and only that', () => {
    const journal = journalOf([cell(1), done], [cell(2), waiting], [results('a'), waiting])
    expect(journal.repeated.cells).toBe(2)
    journal.dropCell()
    expect(journal.length).toBe(1)
    expect(journal.repeated.cells).toBe(1)
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
    expect(journal.steps).toEqual({ earlier: null, latest: [] })
    expect(journal.next(cell(2), 0).number).toBe(1)
  })

  it('is large by bytes, and no longer when it is kept elsewhere', async () => {
    const kept = new Kept()
    const journal = journalOf([cell(1), waiting], [results('é'.repeat(100_000)), waiting])
    expect(journal.isLarge).toBe(false)
    add(journal, [results('é'.repeat(100_000)), done])
    expect(journal.isLarge).toBe(true)
    const inputs = kept.inputs(journal)
    await journal.keep(kept.append)
    expect(journal.isLarge).toBe(false)
    expect(journal.steps.latest).toEqual([])
    expect(kept.inputs(journal)).toEqual(inputs)
    expect(journal.next(cell(2), 0).number).toBe(4)
  })

  it('kept in the middle of a cell, it still goes back to where the cell began', async () => {
    const kept = new Kept()
    const journal = journalOf([cell(1), done], [cell(2), waiting])
    await journal.keep(kept.append)
    add(journal, [results('a'), waiting])
    const state = await journal.keep(kept.append)
    add(journal, [results('b'), waiting])
    expect(kept.inputs(journal)).toEqual([cell(1), cell(2), results('a'), results('b')])

    const next = new Journal(state)
    expect(kept.inputs(next)).toEqual([cell(1), cell(2), results('a')])
    for (const either of [journal, next]) {
      either.dropCell()
      expect(kept.inputs(either)).toEqual([cell(1)])
      expect(either.repeated.cells).toBe(1)
      expect(either.next(cell(3), 0).number).toBe(2)
    }
  })

  it('has nothing to keep when nothing is new', async () => {
    const kept = new Kept()
    const journal = journalOf([cell(1), done])
    const state = await journal.keep(kept.append)
    expect(await journal.keep(kept.append)).toEqual(state)
    expect(kept.steps.size).toBe(1)
  })

  describe('with a snapshot', () => {
    const state = { sha256: 'f'.repeat(64), bytes: 9, preview: '' }

    it('repeats what came later, and keeps all for the day that the snapshot is of no use', () => {
      const journal = journalOf([cell(1), waiting], [results('a'), done])
      journal.keepSnapshot(state, journal.place)
      add(journal, [cell(2), done])
      expect(journal.repeated).toEqual({ steps: 1, cells: 1 })
      expect(journal.steps).toMatchObject({ snapshot: { state, steps: 2 }, latest: { length: 3 } })
      journal.forgetSnapshot()
      expect(journal.repeated).toEqual({ steps: 3, cells: 2 })
      expect(journal.steps).not.toHaveProperty('snapshot')
    })

    it('stands where it was taken, whatever was recorded meanwhile', () => {
      const journal = journalOf([cell(1), done])
      const { place } = journal
      add(journal, [cell(2), done])
      journal.keepSnapshot(state, place)
      expect(journal.steps.snapshot).toEqual({ state, steps: 1 })
    })

    it('drops it with the cell that it was taken after, and not with a later one', () => {
      const journal = journalOf([cell(1), done])
      journal.keepSnapshot(state, journal.place)
      add(journal, [cell(2), waiting])
      journal.dropCell()
      expect(journal.steps.snapshot).toEqual({ state, steps: 1 })

      const other = journalOf([cell(1), done])
      other.keepSnapshot(state, other.place)
      other.dropCell()
      expect(other.steps).toEqual({ earlier: null, latest: [] })
    })

    it.each(['dropCell', 'clear'] as const)('takes none of what was there before %s', (forget) => {
      const journal = journalOf([cell(1), done], [cell(2), done])
      const { place } = journal
      journal[forget]()
      add(journal, [cell(3), done], [cell(4), done])
      journal.keepSnapshot(state, place)
      expect(journal.steps).not.toHaveProperty('snapshot')
    })

    it('has it in the next run of the chain', async () => {
      const kept = new Kept()
      const journal = journalOf([cell(1), done])
      journal.keepSnapshot(state, journal.place)
      add(journal, [cell(2), waiting])
      const next = new Journal(await journal.keep(kept.append))
      expect(next.steps).toMatchObject({ snapshot: { state, steps: 1 } })
      expect(next.repeated).toEqual({ steps: 1, cells: 1 })
    })
  })
})
