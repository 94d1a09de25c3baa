import { describe, expect, it } from 'vitest'
import { SnapshotPolicy } from './snapshot-policy.js'

const plan = { steps: 50, ms: 20_000, bytes: 1_000, seconds: 5 }
const after = (all: number, repeated = all) => ({ all, repeated })

describe('SnapshotPolicy', () => {
  it('makes none without a plan: as runs from before there were any', () => {
    const policy = new SnapshotPolicy(undefined, 1e6)
    policy.took(1e9)
    expect(policy.due(after(1e6))).toBeUndefined()
  })

  it('makes one when a rebuild would repeat many steps, or few that took long', () => {
    const policy = new SnapshotPolicy(plan, 1e6)
    expect(policy.due(after(49))).toBeUndefined()
    expect(policy.due(after(50))).toBe(plan)
    policy.took(20_000)
    expect(policy.due(after(1))).toBe(plan)
    expect(policy.due(after(70, 0))).toBeUndefined()
  })

  it('begins anew after one was kept', () => {
    const policy = new SnapshotPolicy(plan, 1e6)
    policy.took(20_000)
    policy.kept(1_000)
    expect(policy.due(after(60, 10))).toBeUndefined()
    expect(policy.due(after(100, 50))).toBe(plan)
  })

  it('doubles the distance each time that there was none, and goes on so in another history', () => {
    let policy = new SnapshotPolicy(plan, 1e6)
    const tried: number[] = []
    for (let all = 1; all <= 1_000; all += 1) {
      if (policy.due(after(all)) === undefined) continue
      tried.push(all)
      policy.failed(after(all))
      policy = new SnapshotPolicy(plan, 1e6, policy.state)
    }
    expect(tried).toEqual([50, 100, 200, 400, 800])
  })

  it('makes no more when those that were made have taken the room there is, also in another history', () => {
    const policy = new SnapshotPolicy(plan, 2_000)
    policy.kept(1_000)
    expect(policy.due(after(50))).toBe(plan)
    policy.kept(1_000)
    expect(policy.due(after(50))).toBeUndefined()
    expect(new SnapshotPolicy(plan, 2_000, policy.state).due(after(50))).toBeUndefined()
  })
})
