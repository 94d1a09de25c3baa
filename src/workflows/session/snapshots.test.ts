import { describe, expect, it } from 'vitest'
import type { RunConfig } from '../../common/run/run-config.js'
import type { Journal } from './journal.js'
import { Snapshots } from './snapshots.js'

const snapshots = {}

/** Snapshots of a session whose steps the test counts. */
function snapshotsOf(storedBytes = 1e6, config: Partial<Pick<RunConfig, 'snapshots'>> = { snapshots }) {
  const steps = { all: 0, repeated: 0 }
  const journal = {
    get length() {
      return steps.all
    },
    get stepsToRepeat() {
      return { steps: steps.repeated, cells: 0 }
    },
  } as Journal
  const recorded = { ...config, limits: { storedBytes }, timeouts: {} } as RunConfig
  const open = (state?: Snapshots['state']) => new Snapshots(recorded, journal, state)
  const isDueAfter = (session: Snapshots, all: number, repeated = all): boolean => {
    Object.assign(steps, { all, repeated })
    return session.isDue
  }
  return { open, isDueAfter }
}

describe('Snapshots', () => {
  it('no snapshot is due without a configuration', () => {
    const { open, isDueAfter } = snapshotsOf(1e6, {})
    const session = open()
    session.addStepTime(1e9)
    expect(isDueAfter(session, 1e6)).toBe(false)
  })

  it('a snapshot is due when a rebuild would repeat many steps, or steps that took long', () => {
    const { open, isDueAfter } = snapshotsOf()
    const session = open()
    expect(isDueAfter(session, 49)).toBe(false)
    expect(isDueAfter(session, 50)).toBe(true)
    session.addStepTime(20_000)
    expect(isDueAfter(session, 1)).toBe(true)
    expect(isDueAfter(session, 70, 0)).toBe(false)
  })

  it('the steps until the next snapshot count from the latest stored snapshot', () => {
    const { open, isDueAfter } = snapshotsOf()
    const session = open()
    session.addStepTime(20_000)
    session.recordStored(1_000)
    expect(isDueAfter(session, 60, 10)).toBe(false)
    expect(isDueAfter(session, 100, 50)).toBe(true)
  })

  it('the distance between snapshots doubles after each failure, also in the next execution of the chain', () => {
    const { open, isDueAfter } = snapshotsOf()
    let session = open()
    const tried: number[] = []
    for (let all = 1; all <= 1_000; all += 1) {
      if (!isDueAfter(session, all)) continue
      tried.push(all)
      session.recordFailure()
      session = open(session.state)
    }
    expect(tried).toEqual([50, 100, 200, 400, 800])
  })

  it('no snapshot is due beyond the limit of bytes, also in the next execution of the chain', () => {
    const { open, isDueAfter } = snapshotsOf(2_000)
    const session = open()
    session.recordStored(1_000)
    expect(isDueAfter(session, 50)).toBe(true)
    session.recordStored(1_000)
    expect(isDueAfter(session, 50)).toBe(false)
    expect(isDueAfter(open(session.state), 50)).toBe(false)
  })
})
