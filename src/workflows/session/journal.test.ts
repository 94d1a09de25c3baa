import { describe, expect, it } from 'vitest'
import type { ValueLog } from '../../common/json/value-log.js'
import type { ExecuteStepResult, RecordedStep, StepInput } from '../../common/session/steps.js'
import type { AppendToLog } from '../temporal/activities.js'
import { Journal } from './journal.js'

const cell = (number: number, source = 'x'): StepInput => ({ type: 'cell', cell: number, source })
const results = (text: string): StepInput => ({
  type: 'results',
  results: [{ index: 1, outcome: { status: 'ok', value: text } }],
})
const done: Extract<ExecuteStepResult, { type: 'completed' }> = { type: 'completed', output: 'not recorded' }
const call = { index: 1, tool: 'get', arguments: { a: 'not recorded' }, summary: 'get a', digest: 'd', refused: null }
const waiting: ExecuteStepResult = {
  type: 'suspended',
  calls: [call],
  wakeInMs: null,
  output: 'not recorded',
}

function journalOf(...steps: readonly (readonly [StepInput, ExecuteStepResult])[]): Journal {
  const journal = new Journal()
  add(journal, ...steps)
  return journal
}

function add(journal: Journal, ...steps: readonly (readonly [StepInput, ExecuteStepResult])[]): void {
  for (const [input, result] of steps) journal.record(journal.nextStep(input, 5), result)
}

/** The steps of each log, by the hash of its head. */
class Logs {
  readonly steps = new Map<string, readonly RecordedStep[]>()

  readonly append: AppendToLog = async (log, batches) => {
    const logs: ValueLog[] = []
    for (const batch of batches) {
      const before = logs.at(-1) ?? log
      const all = [...this.of(before), ...batch]
      const sha256 = `log-${this.steps.size}`
      this.steps.set(sha256, all)
      logs.push({
        head: { sha256, bytes: 1, preview: '' },
        segments: (before?.segments ?? 0) + 1,
        length: all.length,
      })
    }
    return logs
  }

  of(log: ValueLog | null): readonly RecordedStep[] {
    return this.steps.get(log?.head.sha256 ?? '') ?? []
  }

  inputs({ steps: { log, latest } }: Journal): StepInput[] {
    return [...this.of(log), ...latest].map(({ input }) => input)
  }
}

describe('Journal', () => {
  it('a file that was written while a cell waited is dropped with the cell, and one before the cell is not', () => {
    const content = { 'ptc.value': { sha256: 'a', bytes: 1, preview: '' } }
    const upload: StepInput = { type: 'file', path: '/tmp/in/a', offset: 0, content }
    const returned: StepInput = { ...upload, path: '/tmp/in/tools/k/b', inCell: true }
    const journal = journalOf([upload, done], [cell(1), waiting], [returned, done])
    journal.dropCell()
    expect(new Logs().inputs(journal)).toEqual([upload])
    add(journal, [cell(2), waiting], [returned, done], [results('b'), done])
    expect(new Logs().inputs(journal)).toEqual([upload, cell(2), returned, results('b')])
  })

  it('a journal numbers steps from 1 without gaps, and a repeated attempt has the same number', () => {
    const journal = journalOf([cell(1), waiting])
    expect(journal.nextStep(results('a'), 7)).toEqual({ number: 2, now: 7, input: results('a') })
    expect(journal.nextStep(results('a'), 7).number).toBe(2)
  })

  it('a journal records whole inputs, and only the parts of results that a rebuild must repeat', () => {
    const { steps } = journalOf([cell(1), waiting], [results('a'), done])
    expect(steps).toEqual({
      log: null,
      latest: [
        { now: 5, input: cell(1), result: { type: 'suspended', calls: [{ index: 1, digest: 'd', summary: 'get a' }] } },
        { now: 5, input: results('a'), result: { type: 'ended' } },
      ],
    })
    expect(JSON.stringify(steps)).not.toContain('not recorded')
  })

  it('a journal records how long the program waited before a step', () => {
    const journal = new Journal()
    journal.record(journal.nextStep(cell(1), 5, 3), done)
    expect(journal.steps.latest).toMatchObject([{ now: 5, waited: 3 }])
  })

  it('a journal records the time at which the sandbox executed a step for a lost attempt', () => {
    const journal = new Journal()
    journal.record(journal.nextStep(cell(1), 5, 3), { ...done, executedAt: { now: 4, waited: 2 } })
    expect(journal.steps.latest).toEqual([{ now: 4, waited: 2, input: cell(1), result: { type: 'ended' } }])
  })

  it("a journal records the start of a call's summary", () => {
    const summary = `say ${'🎈'.repeat(200)}`
    const journal = journalOf([cell(1), { ...waiting, calls: [{ ...call, summary }] }])
    expect(JSON.stringify(journal.steps)).toContain(`"say ${'🎈'.repeat(76)}…"`)
  })

  it('a journal drops only the current cell', () => {
    const journal = journalOf([cell(1), done], [cell(2), waiting], [results('a'), waiting])
    expect(journal.stepsToRepeat.cells).toBe(2)
    journal.dropCell()
    expect(journal.length).toBe(1)
    expect(journal.stepsToRepeat.cells).toBe(1)
    expect(journal.nextStep(cell(3), 0).number).toBe(2)
  })

  it('a journal drops a cell without a recorded step', () => {
    const journal = journalOf([cell(1), done])
    journal.nextStep(cell(2), 0)
    journal.dropCell()
    expect(journal.length).toBe(1)
  })

  it('a journal is empty after it was cleared', () => {
    const journal = journalOf([cell(1), done])
    journal.clear()
    expect(journal.steps).toEqual({ log: null, latest: [] })
    expect(journal.nextStep(cell(2), 0).number).toBe(1)
  })

  it('a journal should be externalized from a number of bytes on, and is empty in memory afterwards', async () => {
    const logs = new Logs()
    const journal = journalOf([cell(1), waiting], [results('é'.repeat(100_000)), waiting])
    expect(journal.shouldExternalize).toBe(false)
    add(journal, [results('é'.repeat(100_000)), done])
    expect(journal.shouldExternalize).toBe(true)
    const inputs = logs.inputs(journal)
    await journal.externalize(logs.append)
    expect(journal.shouldExternalize).toBe(false)
    expect(journal.steps.latest).toEqual([])
    expect(logs.inputs(journal)).toEqual(inputs)
    expect(journal.nextStep(cell(2), 0).number).toBe(4)
  })

  it('a journal drops a cell that was externalized in part', async () => {
    const logs = new Logs()
    const journal = journalOf([cell(1), done], [cell(2), waiting])
    await journal.externalize(logs.append)
    add(journal, [results('a'), waiting])
    const state = await journal.externalize(logs.append)
    add(journal, [results('b'), waiting])
    expect(logs.inputs(journal)).toEqual([cell(1), cell(2), results('a'), results('b')])

    const next = new Journal(state)
    expect(logs.inputs(next)).toEqual([cell(1), cell(2), results('a')])
    for (const either of [journal, next]) {
      either.dropCell()
      expect(logs.inputs(either)).toEqual([cell(1)])
      expect(either.stepsToRepeat.cells).toBe(1)
      expect(either.nextStep(cell(3), 0).number).toBe(2)
    }
  })

  it('a journal appends nothing when no step is new', async () => {
    const logs = new Logs()
    const journal = journalOf([cell(1), done])
    const state = await journal.externalize(logs.append)
    expect(await journal.externalize(logs.append)).toEqual(state)
    expect(logs.steps.size).toBe(1)
  })

  describe('with a snapshot', () => {
    const state = { sha256: 'f'.repeat(64), bytes: 9, preview: '' }

    it('a rebuild repeats the steps after the snapshot, and all steps when the snapshot was dropped', () => {
      const journal = journalOf([cell(1), waiting], [results('a'), done])
      journal.setSnapshot(state, journal.position)
      add(journal, [cell(2), done])
      expect(journal.stepsToRepeat).toEqual({ steps: 1, cells: 1 })
      expect(journal.steps).toMatchObject({ snapshot: { state, steps: 2 }, latest: { length: 3 } })
      journal.forgetSnapshot()
      expect(journal.stepsToRepeat).toEqual({ steps: 3, cells: 2 })
      expect(journal.steps).not.toHaveProperty('snapshot')
    })

    it('a snapshot has its position in the journal, although steps were recorded meanwhile', () => {
      const journal = journalOf([cell(1), done])
      const { position } = journal
      add(journal, [cell(2), done])
      journal.setSnapshot(state, position)
      expect(journal.steps.snapshot).toEqual({ state, steps: 1 })
    })

    it('a journal drops a snapshot with the cell before it, and not with a later cell', () => {
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

    it.each(['dropCell', 'clear'] as const)('a journal ignores a snapshot of a position before %s', (forget) => {
      const journal = journalOf([cell(1), done], [cell(2), done])
      const { position } = journal
      journal[forget]()
      add(journal, [cell(3), done], [cell(4), done])
      journal.setSnapshot(state, position)
      expect(journal.steps).not.toHaveProperty('snapshot')
    })

    it('a journal keeps its snapshot in the next execution of the chain', async () => {
      const logs = new Logs()
      const journal = journalOf([cell(1), done])
      journal.setSnapshot(state, journal.position)
      add(journal, [cell(2), waiting])
      const next = new Journal(await journal.externalize(logs.append))
      expect(next.steps).toMatchObject({ snapshot: { state, steps: 1 } })
      expect(next.stepsToRepeat).toEqual({ steps: 1, cells: 1 })
    })
  })
})
