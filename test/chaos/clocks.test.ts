import { expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { Script } from '../../src/testing/index.js'
import { WorkerClock } from '../support/clock.js'
import { CrashScene } from '../support/crash-scene.js'
import { describeDocker } from '../support/docker.js'
import { code, faulty, text, turn } from '../support/script.js'

const hour = 3_600_000

const faults = [
  ['jumps an hour ahead', (clock: WorkerClock) => clock.jump(hour), `the clock is ${hour}`],
  ['jumps an hour back', (clock: WorkerClock) => clock.jump(-hour), `the clock is -${hour}`],
  ['stands still', (clock: WorkerClock) => clock.freeze(), 'the clock is frozen'],
] as const

/** Two cells and what is between them; the model takes its time once. */
const script: Script = [
  turn(code('done = [(await charge(name="a"))["done"]]\ndone.append((await charge(name="b"))["done"])')),
  faulty(
    [{ type: 'delay', attempt: 1, ms: 4_000 }],
    turn(code('done.append((await charge(name="c"))["done"])\nprint(",".join(done))')),
  ),
  turn(text('charged {{last_tool_result}}')),
]

/** As if no clock had been touched: nothing was given up, repeated, or taken away too early. */
async function wentAsEver(scene: CrashScene, handle: WorkflowHandle): Promise<void> {
  expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c', toolCalls: 3 })
  expect(scene.ledger.asked.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  expect(scene.api.requests).toHaveLength(3)
  expect(await scene.count(handle, 'session.open')).toBe(1)
  expect(await scene.containersLeft(handle)).toBe(0)
  await scene.replays(handle)
}

describeDocker('the clock of a worker', () => {
  it.each(faults)(
    'F34: %s in the middle of a run: no timeout fires early, nothing is repeated',
    async (_how, disturb, told) => {
      const clock = new WorkerClock()
      const scene = await CrashScene.begin(script, { environment: clock.environment })
      scene.ledger.hold('b')
      const handle = await scene.startAgent()
      await scene.ledger.askedFor('b')
      disturb(clock)
      // Whatever goes by the wall clock has had its chance: several heartbeats.
      await scene.heartbeats(handle, 'charge', 2)
      scene.ledger.release('b')
      await wentAsEver(scene, handle)
      expect(scene.log).toContain(told)
    },
  )

  it('F34: jumps an hour ahead before the next worker takes a living sandbox over: its reaper leaves it alone', async () => {
    const clock = new WorkerClock()
    const scene = await CrashScene.begin(script, { environment: clock.environment })
    scene.ledger.hold('b')
    const handle = await scene.startAgent()
    await scene.ledger.askedFor('b')
    clock.jump(hour)
    await scene.replaceWorker()
    await scene.ledger.askedFor('b', 2) // the killed one's
    scene.ledger.release('b')
    expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'charged a,b,c', toolCalls: 3 })
    expect(scene.ledger.names).toEqual(['a', 'b', 'c'])
    expect(await scene.count(handle, 'session.open')).toBe(1)
    expect(await scene.containersLeft(handle)).toBe(0)
    expect(scene.log.lastIndexOf(`the clock is ${hour}`)).toBeGreaterThan(0)
  })
})
