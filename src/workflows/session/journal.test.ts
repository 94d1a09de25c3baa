import { describe, expect, it } from 'vitest'
import type { ValueLog } from '../../common/value-log.js'
import type { ExecuteStepResult, RecordedStep, StepInput } from '../../common/steps.js'
import { type AppendToLog, Journal } from './journal.js'

const cell = (number: number, source = 'x'): StepInput => ({ type: 'cell', cell: number, source })
const results = (text: string): StepInput => ({
  type: 'results',
  results: [{ index: 1, outcome: { status: 'ok', value: text } }],
})
const done: ExecuteStepResult = { type: 'completed', output: 'not kept' }
const call = { index: 1, tool: 'get', arguments: { a: 'not kept' }, summary: 'get a', digest: 'd', refused: null }
const waiting: ExecuteStepResult = {
  type: 'suspended',
  calls: [call],
  wakeInMs: null,
  output: 'not kept',
}

function journalOf(...steps: readonly (readonly [StepInput, ExecuteStepResult])[]): Journal {
  const journal = new Journal()
  add(journal, ...steps)
  return journal
}

function add(journal: Journal, ...steps: readonly (readonly [StepInput, ExecuteStepResult])[]): void {
  for (const [input, answer] of steps) journal.record(journal.nextStep(input, 5), answer)
}

/** Keeps what is appended, by the name of the chain. */
class Kept {
  readonly steps = new Map<string, readonly RecordedStep[]>()

  readonly append: AppendToLog = async (to, lists) => {
    const chains: ValueLog[] = []
    for (const list of lists) {
      const before = chains.at(-1) ?? to
      const all = [...this.of(before), ...list]
      const sha256 = `chain-${this.steps.size}`
      this.steps.set(sha256, all)
      chains.push({
        head: { sha256, bytes: 1, preview: '' },
        segments: (before?.segments ?? 0) + 1,
        length: all.length,
      })
    }
    return chains
  }

  of(chain: ValueLog | null): readonly RecordedStep[] {
    return this.steps.get(chain?.head.sha256 ?? '') ?? []
  }

  inputs({ steps: { log, latest } }: Journal): StepInput[] {
    return [...this.of(log), ...latest].map(({ input }) => input)
  }
}

describe('Journal', () => {
  it('numbers steps from 1 without gaps, and one that is taken again stays the same', () => {
    const journal = journalOf([cell(1), waiting])
    expect(journal.nextStep(results('a'), 7)).toEqual({ number: 2, now: 7, input: results('a') })
    expect(journal.nextStep(results('a'), 7).number).toBe(2)
  })

  it('keeps inputs whole, and of answers only what a repetition must show', () => {
    const { steps } = journalOf([cell(1), waiting], [results('a'), done])
    expect(steps).toEqual({
      log: null,
      latest: [
        { now: 5, input: cell(1), result: { type: 'suspended', calls: [{ index: 1, digest: 'd', summary: 'get a' }] } },
        { now: 5, input: results('a'), result: { type: 'ended' } },
      ],
    })
    expect(JSON.stringify(steps)).not.toContain('not kept')
  })

  it('keeps how long was waited before a step, which a repetition is told again', () => {
    const journal = new Journal()
    journal.record(journal.nextStep(cell(1), 5, 3), done)
    expect(journal.steps.latest).toMatchObject([{ now: 5, waited: 3 }])
  })

  it("keeps the beginning of a call's summary, which does not make it larger", () => {
    const summary = `say ${'🎈'.repeat(200)}`
    const calls = Array.from({ length: 1_000 }, (_, index) => ({ ...call, index, summary }))
    const journal = journalOf([cell(1), { ...waiting, calls }])
    expect(JSON.stringify(journal.steps)).toContain(`"say ${'🎈'.repeat(76)}…"`)
    expect(journal.shouldExternalize).toBe(false)
  })

  it('drops the current cell, and only that', () => {
    const journal = journalOf([cell(1), done], [cell(2), waiting], [results('a'), waiting])
    expect(journal.stepsToRepeat.cells).toBe(2)
    journal.dropCell()
    expect(journal.length).toBe(1)
    expect(journal.stepsToRepeat.cells).toBe(1)
    expect(journal.nextStep(cell(3), 0).number).toBe(2)
  })

  it('drops the cell too that has not answered once', () => {
    const journal = journalOf([cell(1), done])
    journal.nextStep(cell(2), 0)
    journal.dropCell()
    expect(journal.length).toBe(1)
  })

  it('is empty after it was cleared', () => {
    const journal = journalOf([cell(1), done])
    journal.clear()
    expect(journal.steps).toEqual({ log: null, latest: [] })
    expect(journal.nextStep(cell(2), 0).number).toBe(1)
  })

  it('is large by bytes, and no longer when it is kept elsewhere', async () => {
    const kept = new Kept()
    const journal = journalOf([cell(1), waiting], [results('é'.repeat(100_000)), waiting])
    expect(journal.shouldExternalize).toBe(false)
    add(journal, [results('é'.repeat(100_000)), done])
    expect(journal.shouldExternalize).toBe(true)
    const inputs = kept.inputs(journal)
    await journal.externalize(kept.append)
    expect(journal.shouldExternalize).toBe(false)
    expect(journal.steps.latest).toEqual([])
    expect(kept.inputs(journal)).toEqual(inputs)
    expect(journal.nextStep(cell(2), 0).number).toBe(4)
  })

  it('kept in the middle of a cell, it still goes back to where the cell began', async () => {
    const kept = new Kept()
    const journal = journalOf([cell(1), done], [cell(2), waiting])
    await journal.externalize(kept.append)
    add(journal, [results('a'), waiting])
    const state = await journal.externalize(kept.append)
    add(journal, [results('b'), waiting])
    expect(kept.inputs(journal)).toEqual([cell(1), cell(2), results('a'), results('b')])

    const next = new Journal(state)
    expect(kept.inputs(next)).toEqual([cell(1), cell(2), results('a')])
    for (const either of [journal, next]) {
      either.dropCell()
      expect(kept.inputs(either)).toEqual([cell(1)])
      expect(either.stepsToRepeat.cells).toBe(1)
      expect(either.nextStep(cell(3), 0).number).toBe(2)
    }
  })

  it('has nothing to keep when nothing is new', async () => {
    const kept = new Kept()
    const journal = journalOf([cell(1), done])
    const state = await journal.externalize(kept.append)
    expect(await journal.externalize(kept.append)).toEqual(state)
    expect(kept.steps.size).toBe(1)
  })

  describe('with a snapshot', () => {
    const state = { sha256: 'f'.repeat(64), bytes: 9, preview: '' }

    it('repeats what came later, and keeps all for the day that the snapshot is of no use', () => {
      const journal = journalOf([cell(1), waiting], [results('a'), done])
      journal.setSnapshot(state, journal.position)
      add(journal, [cell(2), done])
      expect(journal.stepsToRepeat).toEqual({ steps: 1, cells: 1 })
      expect(journal.steps).toMatchObject({ snapshot: { state, steps: 2 }, latest: { length: 3 } })
      journal.forgetSnapshot()
      expect(journal.stepsToRepeat).toEqual({ steps: 3, cells: 2 })
      expect(journal.steps).not.toHaveProperty('snapshot')
    })

    it('stands where it was taken, whatever was recorded meanwhile', () => {
      const journal = journalOf([cell(1), done])
      const { position } = journal
      add(journal, [cell(2), done])
      journal.setSnapshot(state, position)
      expect(journal.steps.snapshot).toEqual({ state, steps: 1 })
    })

    it('drops it with the cell that it was taken after, and not with a later one', () => {
      const journal = journalOf([cell(1), done])
      journal.setSnapshot(state, journal.position)
      add(journal, [cell(2), waiting])
      journal.dropCell()
      expect(journal.steps.snapshot).toEqual({ state, steps: 1 })

      const other = journalOf([cell(1), done])
      other.setSnapshot(state, other.position)
      other.dropCell()
      expect(other.steps).toEqual({ log: null, latest: [] })
    })

    it.each(['dropCell', 'clear'] as const)('takes none of what was there before %s', (forget) => {
      const journal = journalOf([cell(1), done], [cell(2), done])
      const { position } = journal
      journal[forget]()
      add(journal, [cell(3), done], [cell(4), done])
      journal.setSnapshot(state, position)
      expect(journal.steps).not.toHaveProperty('snapshot')
    })

    it('has it in the next run of the chain', async () => {
      const kept = new Kept()
      const journal = journalOf([cell(1), done])
      journal.setSnapshot(state, journal.position)
      add(journal, [cell(2), waiting])
      const next = new Journal(await journal.externalize(kept.append))
      expect(next.steps).toMatchObject({ snapshot: { state, steps: 1 } })
      expect(next.stepsToRepeat).toEqual({ steps: 1, cells: 1 })
    })
  })
})
