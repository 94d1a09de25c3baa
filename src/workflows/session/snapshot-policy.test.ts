import { describe, expect, it } from 'vitest'
import { SnapshotPolicy } from './snapshot-policy.js'

const plan = { everySteps: 50, everyMs: 20_000, maxBytes: 1_000, timeoutSeconds: 5 }
const after = (all: number, repeated = all) => ({ all, repeated })

describe('SnapshotPolicy', () => {
  it('makes none without a plan: as runs from before there were any', () => {
    const policy = new SnapshotPolicy(undefined, 1e6)
    policy.addStepTime(1e9)
    expect(policy.configIfDue(after(1e6))).toBeUndefined()
  })

  it('makes one when a rebuild would repeat many steps, or few that took long', () => {
    const policy = new SnapshotPolicy(plan, 1e6)
    expect(policy.configIfDue(after(49))).toBeUndefined()
    expect(policy.configIfDue(after(50))).toBe(plan)
    policy.addStepTime(20_000)
    expect(policy.configIfDue(after(1))).toBe(plan)
    expect(policy.configIfDue(after(70, 0))).toBeUndefined()
  })

  it('begins anew after one was kept', () => {
    const policy = new SnapshotPolicy(plan, 1e6)
    policy.addStepTime(20_000)
    policy.recordStored(1_000)
    expect(policy.configIfDue(after(60, 10))).toBeUndefined()
    expect(policy.configIfDue(after(100, 50))).toBe(plan)
  })

  it('doubles the distance each time that there was none, and goes on so in another history', () => {
    let policy = new SnapshotPolicy(plan, 1e6)
    const tried: number[] = []
    for (let all = 1; all <= 1_000; all += 1) {
      if (policy.configIfDue(after(all)) === undefined) continue
      tried.push(all)
      policy.recordFailure(after(all))
      policy = new SnapshotPolicy(plan, 1e6, policy.state)
    }
    expect(tried).toEqual([50, 100, 200, 400, 800])
  })

  it('makes no more when those that were made have taken the room there is, also in another history', () => {
    const policy = new SnapshotPolicy(plan, 2_000)
    policy.recordStored(1_000)
    expect(policy.configIfDue(after(50))).toBe(plan)
    policy.recordStored(1_000)
    expect(policy.configIfDue(after(50))).toBeUndefined()
    expect(new SnapshotPolicy(plan, 2_000, policy.state).configIfDue(after(50))).toBeUndefined()
  })
})
