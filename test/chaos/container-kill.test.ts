import Dockerode from 'dockerode'
import type { WorkflowHandle } from '@temporalio/client'
import { expect, it, onTestFinished } from 'vitest'
import type { Script } from '../../src/testing/index.js'
import { CrashScene } from '../support/crash-scene.js'
import { describeDocker } from '../support/docker.js'
import { answerResult, code, faulty, turn } from '../support/script.js'
import { uniqueName } from '../support/temporal.js'
import { patientSignal } from '../support/patient.js'

const cells = [
  `
import asyncio
done = [(await charge(name="a"))["done"]]
done += [r["done"] for r in await asyncio.gather(charge(name="b"), charge(name="c"))]
`,
  `
import os
while BUSY and not os.path.exists("/tmp/go"): pass
done.append((await charge(name="d"))["done"])
print(",".join(done))
`,
]

interface Slowly {
  /** The second cell runs until it is let go on. */
  readonly busy?: boolean
  /** Turns before the one that the model takes its time for: less than it may be silent, more than a kill takes. */
  readonly modelAfter?: number
}

function script({ busy = false, modelAfter }: Slowly = {}): Script {
  const turns = [
    turn(code(cells[0] ?? '')),
    turn(code((cells[1] ?? '').replace('BUSY', busy ? 'True' : 'False'))),
    answerResult,
  ]
  return turns.map((one, before) =>
    before === modelAfter ? faulty([{ type: 'delay', attempt: 1, ms: 15_000 }], one) : one,
  )
}

type Kill = (scene: CrashScene, handle: WorkflowHandle) => Promise<void>
const modelIsAsked =
  (turns: number): Kill =>
  async (scene, handle) => {
    await scene.api.waitForRequest(({ assistantMessages }) => assistantMessages === turns, patientSignal())
    await scene.killContainer(handle)
  }
const codeRuns: Kill = async (scene, handle) => {
  await scene.activityRuns(handle, 'session.advance', 3)
  await scene.killContainer(handle)
  await scene.letGoOn(handle)
}

interface Moment {
  readonly kill: Kill | 'a' | 'b' | 'd'
  readonly made: number
  readonly slowly?: Slowly
}

/** Points of a container's life after its first step, and how many there are in the end. */
const moments: Readonly<Record<string, Moment>> = {
  'its code waits for its first call': { kill: 'a', made: 2 },
  'its code waits for two calls at once': { kill: 'b', made: 2 },
  'the model answers its first cell': { kill: modelIsAsked(1), made: 2, slowly: { modelAfter: 1 } },
  'its code runs': { kill: codeRuns, made: 2, slowly: { busy: true } },
  'its second cell waits': { kill: 'd', made: 2 },
  'the model answers its last cell': { kill: modelIsAsked(2), made: 1, slowly: { modelAfter: 2 } },
}

describeDocker('a container that is killed from outside', () => {
  it.each(Object.keys(moments))('F12: while %s: each effect happens once, each turn is paid once', async (name) => {
    const { kill, made, slowly } = moments[name] ?? expect.fail()
    const scene = await CrashScene.begin(script(slowly))
    if (typeof kill === 'string') scene.ledger.hold(kill)
    const handle = await scene.startAgent()
    if (typeof kill === 'string') {
      await scene.ledger.askedFor(kill)
      await scene.killContainer(handle)
      scene.ledger.release(kill)
    } else await kill(scene, handle)
    await endsWell(scene, handle)
    expect(await scene.count(handle, 'session.open')).toBe(made)
  })

  it.each([1, 2])('F12: the moment it is started, %i times in a row', async (times) => {
    const scene = await CrashScene.begin(script())
    const workflowId = uniqueName('agent')
    const killed = await killAtStart(workflowId, times)
    const handle = await scene.startAgent('go', workflowId)
    await endsWell(scene, handle)
    expect(killed.count).toBe(times)
  })
})

async function endsWell(scene: CrashScene, handle: WorkflowHandle): Promise<void> {
  expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c,d', turns: 3, toolCalls: 4 })
  expect(scene.ledger.names).toEqual(['a', 'b', 'c', 'd'])
  expect(scene.ledger.asked).toHaveLength(4)
  expect(scene.answeredTurns).toBe(3)
  expect(await scene.containersLeft(handle)).toBe(0)
  await scene.replays(handle)
}

/** kill -9 of the first containers of a run, as soon as Docker says that they were started. */
async function killAtStart(workflowId: string, times: number): Promise<{ readonly count: number }> {
  const docker = new Dockerode()
  const filters = JSON.stringify({ event: ['start'], label: [`ptc.workflow=${workflowId}`] })
  const events = await docker.getEvents({ filters })
  onTestFinished(() => void ('destroy' in events && typeof events.destroy === 'function' && events.destroy()))
  const killed = { count: 0 }
  events.on('data', (line: Buffer) => {
    if (killed.count === times) return
    killed.count += 1
    const { id } = JSON.parse(line.toString()) as { readonly id: string }
    void docker.getContainer(id).kill()
  })
  return killed
}
