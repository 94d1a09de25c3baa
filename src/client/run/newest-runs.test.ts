import { describe, expect, it } from 'vitest'
import { newestRuns, type StartWindow } from './newest-runs.js'

const now = Date.parse('2026-11-26T12:00:00Z')
const minute = 60_000

interface Run {
  readonly id: string
  readonly startedAt: Date
  /** Start of the latest execution. */
  readonly executionAt: number
}

function run(id: string, ageMs: number, executionAgeMs = ageMs): Run {
  return { id, startedAt: new Date(now - ageMs), executionAt: now - executionAgeMs }
}

/** Lists runs in another order, like a server. */
function sourceOf(runs: readonly Run[]) {
  const reads = { count: 0 }
  const within = ({ from = -Infinity, to = Infinity }: StartWindow) =>
    runs.filter(({ executionAt }) => executionAt >= from && executionAt < to)
  return {
    reads,
    source: {
      count: (window: StartWindow) => Promise.resolve(within(window).length),
      async *list(window: StartWindow) {
        await Promise.resolve()
        for (const each of within(window)) {
          reads.count += 1
          yield each
        }
      },
    },
  }
}

const ids = (runs: readonly Run[]) => runs.map(({ id }) => id)

describe('the newest runs', () => {
  it('the newest runs come first in every order of the server', async () => {
    const { source } = sourceOf([run('old', 90 * minute), run('new', 0), run('middle', minute)])
    expect(ids(await newestRuns(source, { limit: 2, now }))).toEqual(['new', 'middle'])
  })

  it('the newest of many runs are found without reading all', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => run(`r${index}`, index * minute))
    const { source, reads } = sourceOf(many.toReversed())
    expect(ids(await newestRuns(source, { limit: 3, now }))).toEqual(['r0', 'r1', 'r2'])
    expect(reads.count).toBeLessThan(2_000)
  })

  it('the newest runs are found when thousands began in one minute, and when the last began years ago', async () => {
    const burst = Array.from({ length: 5_000 }, (_, index) => run(`r${index}`, index * 10))
    expect(ids(await newestRuns(sourceOf(burst).source, { limit: 2, now }))).toEqual(['r0', 'r1'])
    const ancient = burst.map(({ id, startedAt }) => run(id, now - startedAt.getTime() + 5 * 365 * 24 * 60 * minute))
    expect(ids(await newestRuns(sourceOf(ancient).source, { limit: 2, now }))).toEqual(['r0', 'r1'])
  })

  it('the newest runs are ordered by the start of the run, not of its latest execution', async () => {
    const continued = Array.from({ length: 1_500 }, (_, index) => run(`c${index}`, 50_000 * minute, index))
    const { source } = sourceOf([...continued, run('new', 10 * minute), run('newer', 2 * minute)])
    expect(ids(await newestRuns(source, { limit: 2, now }))).toEqual(['newer', 'new'])
  })

  it('the newest runs are only wanted runs, and all of them when there are few', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => run(`r${index}`, index * minute))
    const isWanted = ({ id }: Run) => id === 'r7' || id === 'r2900'
    expect(ids(await newestRuns(sourceOf(many).source, { limit: 20, now, isWanted }))).toEqual(['r7', 'r2900'])
  })

  it("the newest runs include a run that began after the time of the client's clock", async () => {
    const many = Array.from({ length: 1_200 }, (_, index) => run(`r${index}`, index * minute - 5_000))
    expect(ids(await newestRuns(sourceOf(many).source, { limit: 1, now }))).toEqual(['r0'])
  })
})
