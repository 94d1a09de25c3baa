import { describe, expect, it } from 'vitest'
import { SnapshotPolicy } from './snapshots.js'

const config = {}
const after = (all: number, repeated = all) => ({ all, repeated })

describe('SnapshotPolicy', () => {
  it('no snapshot is due without a configuration', () => {
    const policy = new SnapshotPolicy(undefined, 1e6)
    policy.addStepTime(1e9)
    expect(policy.isDue(after(1e6))).toBe(false)
  })

  it('a snapshot is due when a rebuild would repeat many steps, or steps that took long', () => {
    const policy = new SnapshotPolicy(config, 1e6)
    expect(policy.isDue(after(49))).toBe(false)
    expect(policy.isDue(after(50))).toBe(true)
    policy.addStepTime(20_000)
    expect(policy.isDue(after(1))).toBe(true)
    expect(policy.isDue(after(70, 0))).toBe(false)
  })

  it('the steps until the next snapshot count from the latest stored snapshot', () => {
    const policy = new SnapshotPolicy(config, 1e6)
    policy.addStepTime(20_000)
    policy.recordStored(1_000)
    expect(policy.isDue(after(60, 10))).toBe(false)
    expect(policy.isDue(after(100, 50))).toBe(true)
  })

  it('the distance between snapshots doubles after each failure, also in the next execution of the chain', () => {
    let policy = new SnapshotPolicy(config, 1e6)
    const tried: number[] = []
    for (let all = 1; all <= 1_000; all += 1) {
      if (!policy.isDue(after(all))) continue
      tried.push(all)
      policy.recordFailure(after(all))
      policy = new SnapshotPolicy(config, 1e6, policy.state)
    }
    expect(tried).toEqual([50, 100, 200, 400, 800])
  })

  it('no snapshot is due beyond the limit of bytes, also in the next execution of the chain', () => {
    const policy = new SnapshotPolicy(config, 2_000)
    policy.recordStored(1_000)
    expect(policy.isDue(after(50))).toBe(true)
    policy.recordStored(1_000)
    expect(policy.isDue(after(50))).toBe(false)
    expect(new SnapshotPolicy(config, 2_000, policy.state).isDue(after(50))).toBe(false)
  })
})
