import { rm, stat, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { filesIn } from '../../support/folders.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../support/environment/test-environment.js'
import { Deferred, tool } from '../../support/tools.js'
import { TestSession } from '../../support/environment/test-session.js'

/** A session with counted effects, and a snapshot after this many steps. */
async function startSessionWithEffects(options: TestEnvironmentOptions = {}) {
  const effects: unknown[] = []
  const charge = tool('charge', ({ name }) => effects.push(name))
  const session = await TestSession.start({ tools: [charge], snapshots: { steps: 4 }, ...options })
  const kill = () => session.env.killContainers(session.handle)
  const summaries = async (type: string) =>
    (await session.env.activities(session.handle)).filter((row) => row.type === type).map(({ summary }) => summary)
  /** Runs cells of two steps each. */
  const runCells = async (from: number, to: number) => {
    for (let n = from; n <= to; n += 1)
      await session.outputOf(`total = globals().get("total", 0) + ${n}; await charge(name=${n})`)
  }
  const waitForSnapshots = async (count: number) => {
    await expect.poll(async () => (await summaries('session.snapshot')).length).toBeGreaterThanOrEqual(count)
    await expect.poll(async () => (await session.handle.describe()).raw.pendingActivities?.length).toBe(0)
  }
  return { session, effects, kill, summaries, cells: runCells, kept: waitForSnapshots }
}

const rebuildSummaries = (all: readonly (string | undefined)[]) => all.filter((summary) => summary?.includes('repeat'))

describeDocker('a session whose container is killed', () => {
  it('a rebuild from a snapshot repeats a bounded number of steps, for any number of recorded steps', async () => {
    const { session, effects, kill, summaries, cells } = await startSessionWithEffects({ snapshots: { steps: 20 } })
    await cells(1, 100)
    await kill()
    expect(await session.outputOf('print(total)')).toBe('5050\n')
    expect(effects).toHaveLength(100)
    const [summary = ''] = rebuildSummaries(await summaries('session.step'))
    const [, restored = '0', repeated = '999'] = /after (\d+) steps, repeat (\d+) /.exec(summary) ?? []
    expect(Number(restored) + Number(repeated)).toBe(200)
    expect(Number(repeated)).toBeLessThan(40)
    await session.close()
  })

  it.each(['is gone', 'was changed'])('a rebuild repeats all steps when the snapshot %s', async (what) => {
    const { session, effects, kill, summaries, cells, kept } = await startSessionWithEffects()
    await cells(1, 4)
    await kept(2)
    const folder = session.env.valuesDirectory
    for (const path of await filesIn(folder)) {
      if ((await stat(path)).size < 5_000) continue
      if (what === 'is gone') await rm(path)
      else await writeFile(path, 'something else')
    }
    await kill()
    expect(await session.outputOf('print(total)')).toBe('10\n')
    expect(effects).toEqual([1, 2, 3, 4])
    const [tried, last] = rebuildSummaries(await summaries('session.step'))
    expect(tried).toBe('restore the snapshot after 8 steps, repeat 0 recorded steps')
    expect(last).toMatch(
      /^repeat 8 recorded steps; the snapshot was of no use: the snapshot of the session (is missing|was changed)/,
    )
    await session.close()
  })

  it("a rebuild repeats all steps when the snapshot can't be restored", async () => {
    const { session, effects, kill, summaries, cells, kept } = await startSessionWithEffects()
    await session.outputOf('import math\nmath.pi = 3')
    await cells(1, 3)
    await kept(1)
    await kill()
    expect(await session.outputOf('print(total, math.pi)')).toBe('6 3\n')
    expect(effects).toEqual([1, 2, 3])
    const [tried, last] = rebuildSummaries(await summaries('session.step'))
    expect(tried).toMatch(/^restore the snapshot after/)
    expect(last).toBe('repeat 7 recorded steps; the snapshot was of no use: the module math differs')
    await session.close()
  })

  it('a session retries snapshots with back-off while the state is unsupported', async () => {
    const { session, effects, kill, summaries, cells } = await startSessionWithEffects()
    await session.outputOf('g = (n for n in range(3))')
    await cells(1, 20)
    await kill()
    expect(await session.outputOf('print(total, next(g))')).toBe('210 0\n')
    expect(effects).toHaveLength(20)
    expect(await summaries('session.snapshot')).toEqual([
      'snapshot after 5 steps',
      'snapshot after 11 steps',
      'snapshot after 23 steps',
    ])
    expect(rebuildSummaries(await summaries('session.step'))).toEqual(['repeat 41 recorded steps'])
    await session.close()
  })

  it('a session takes no snapshot when snapshots are off', async () => {
    const { session, summaries, cells } = await startSessionWithEffects({ snapshots: false })
    await cells(1, 4)
    expect(await summaries('session.snapshot')).toEqual([])
    await session.close()
  })
})

describeDocker('a run that is rebuilt', () => {
  it('a rebuild starts at the snapshot after a continue-as-new, too', async () => {
    const mail = new Deferred<string>()
    const effects: unknown[] = []
    const charge = tool('charge', ({ name }) => effects.push(name))
    const wait = tool('wait_for_mail', () => mail.promise)
    const cells = Array.from({ length: 12 }, (_, n) => turn(code(`x = ${n}\nawait charge(name=${n})`)))
    const script = [...cells, turn(call('wait_for_mail')), turn(code('print(x)')), answerResult]
    const env = await TestEnvironment.start({
      tools: [charge, wait],
      script,
      limits: { historyEvents: 100 },
      timeouts: { idle: '1s' },
      snapshots: { steps: 4 },
    })
    const handle = await env.startAgent()
    await expect.poll(() => effects.length).toBe(12)
    await expect.poll(() => env.containers(handle)).toEqual([])
    mail.resolve('now')
    expect(await handle.result()).toMatchObject({ status: 'answered', answer: '11' })
    expect(effects).toEqual(Array.from({ length: 12 }, (_, n) => n))
    expect((await env.executionHistories(handle)).length).toBeGreaterThan(1)
    // The run may continue as new once more after the rebuild.
    const summaries = (await env.chainActivities(handle)).map(({ summary }) => summary)
    expect(rebuildSummaries(summaries).at(-1)).toMatch(
      /^restore the snapshot after \d+ steps, repeat [0-9] recorded step/,
    )
    await env.expectCleanEnd(handle)
  })
})

describeDocker('a program', () => {
  it('a program takes no snapshot at its end, for any number of steps', async () => {
    const env = await TestEnvironment.start({ tools: [tool('charge', () => null)], snapshots: { steps: 2 } })
    expect(await env.runProgram('for n in range(4): await charge(name=n)')).toMatchObject({ outcome: { status: 'ok' } })
    expect((await env.activities()).map(({ type }) => type)).not.toContain('session.snapshot')
  })
})
