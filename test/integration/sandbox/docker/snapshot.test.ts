import { expect, it } from 'vitest'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { TestSession } from '../../../support/environment/test-session.js'
import { tool } from '../../../support/tools.js'

describeDocker('a session whose container is killed', () => {
  it('a session whose container is killed is restored from the last snapshot, and repeats no effect', async () => {
    const effects: unknown[] = []
    const charge = tool('charge', ({ name }) => effects.push(name))
    const session = await TestSession.start({ tools: [charge], snapshots: { steps: 4 } })
    const { env, handle } = session
    const summaries = async (type: string) =>
      (await env.activities(handle)).flatMap((row) => (row.type === type ? (row.summary ?? []) : []))
    for (let n = 1; n <= 5; n += 1)
      await session.outputOf(`total = globals().get("total", 0) + ${n}; await charge(name=${n})`)
    await expect.poll(async () => (await summaries('session.snapshot')).length).toBe(2)
    await expect.poll(async () => (await handle.describe()).raw.pendingActivities?.length).toBe(0)
    await env.killContainers(handle)
    expect(await session.outputOf('print(total)')).toBe('15\n')
    expect(effects).toEqual([1, 2, 3, 4, 5])
    expect((await summaries('session.step')).filter((summary) => summary.includes('repeat'))).toEqual([
      'restore the snapshot after 8 steps, repeat 2 recorded steps',
    ])
    await session.close()
  })
})
