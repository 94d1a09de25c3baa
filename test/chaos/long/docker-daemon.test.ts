import type { WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { CrashScene } from '../../support/crash-scene.js'
import { describeOwnDaemon } from '../../support/docker.js'
import { OwnDaemon } from '../../support/own-daemon.js'
import { answerResult, call, code, noModel, turn } from '../../support/script.js'

/** Waits for a tool, then runs until it is let go on; `done` is of the cell before. */
const cells = [
  'done = [(await charge(name="a"))["done"]]',
  `
import os
done.append((await charge(name="b"))["done"])
while BUSY and not os.path.exists("/tmp/go"): pass
done.append((await charge(name="c"))["done"])
print(",".join(done))
`,
]
const script = (busy: boolean) => ({
  conversations: [
    {
      match: { firstUserText: 'no sandbox' },
      turns: [
        turn(call('charge', { name: 'direct' })),
        turn(call('charge', { name: 'with no sandbox' })),
        answerResult,
      ],
    },
    { turns: [...cells.map((cell) => turn(code(cell.replace('BUSY', busy ? 'True' : 'False')))), answerResult] },
  ],
})

/** The moments at which a run meets the fault. */
const moments = {
  'while the code waits for a tool': {
    busy: false,
    reached: (scene: CrashScene) => scene.ledger.askedFor('b'),
    goOn: async (scene: CrashScene) => scene.ledger.release('b'),
  },
  'while the code runs': {
    busy: true,
    reached: async (scene: CrashScene, handle: WorkflowHandle) => {
      scene.ledger.release('b')
      await scene.activityRuns(handle, 'session.advance', 3)
    },
    goOn: (scene: CrashScene, handle: WorkflowHandle) => scene.letGoOn(handle),
  },
} as const
type Moment = keyof typeof moments
const eachMoment = Object.keys(moments) as Moment[]

/** A run that meets a fault at this moment and goes on after it; how many sandboxes did it take? */
async function endures(
  moment: Moment,
  fault: (scene: CrashScene, handle: WorkflowHandle) => Promise<void>,
  others: { readonly effects: readonly string[]; readonly turns: number } = { effects: [], turns: 0 },
): Promise<number> {
  const { busy, reached, goOn } = moments[moment]
  const scene = await CrashScene.begin(script(busy))
  scene.ledger.hold('b')
  const handle = await scene.startAgent()
  onTestFinished(() => scene.removeContainers(handle).catch(() => undefined))
  await scene.ledger.askedFor('b')
  await reached(scene, handle)
  await fault(scene, handle)
  await goOn(scene, handle)
  expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c', turns: 3, toolCalls: 3 })
  const effects = ['a', 'b', 'c', ...others.effects]
  expect(scene.ledger.names).toEqual(effects)
  expect(scene.ledger.asked).toHaveLength(effects.length)
  expect(scene.answeredTurns).toBe(3 + others.turns)
  expect(await scene.containersLeft(handle)).toBe(0)
  await scene.replays(handle)
  return scene.count(handle, 'session.open')
}

function withDaemon(liveRestore: boolean): () => OwnDaemon {
  let daemon: OwnDaemon
  beforeAll(async () => {
    daemon = await OwnDaemon.start({ liveRestore })
    vi.stubEnv('DOCKER_HOST', daemon.host)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await daemon?.close()
  })
  return () => daemon
}

describeOwnDaemon('kill -9 of a Docker daemon with live-restore', () => {
  const daemon = withDaemon(true)

  it.each(eachMoment)('F14: of dockerd %s: the worker attaches again, nothing is run twice', async (moment) => {
    const sandboxes = await endures(moment, async (scene, handle) => {
      const before = await scene.container(handle)
      await daemon().kill()
      await daemon().startAgain()
      expect(await scene.container(handle)).toBe(before)
    })
    expect(sandboxes).toBe(1)
  })

  it.each(eachMoment)(
    'F14: of its containerd %s: the container lives on, or its session is rebuilt',
    async (moment) => {
      await endures(moment, () => daemon().killContainerd())
    },
  )

  it.each(eachMoment)("F14: of the container's shim %s: the session is rebuilt", async (moment) => {
    const sandboxes = await endures(moment, async (scene, handle) => {
      daemon().killShim(await scene.container(handle))
    })
    expect(sandboxes).toBe(2)
  })
})

describeOwnDaemon('a Docker daemon without live-restore', () => {
  const daemon = withDaemon(false)

  it.each(eachMoment)('F14: killed with -9 %s: its containers are gone, the session is rebuilt', async (moment) => {
    const sandboxes = await endures(moment, async () => {
      await daemon().kill()
      await daemon().startAgain()
    })
    expect(sandboxes).toBe(2)
  })

  it.each(eachMoment)('F14: that hangs %s: the others go on, and after it all do', async (moment) => {
    const other = { effects: ['direct', 'with no sandbox'], turns: 3 }
    const hangs = async (scene: CrashScene): Promise<void> => {
      daemon().hang()
      onTestFinished(() => daemon().goOn())
      const opening = await scene.startProgram('print("opened")')
      const others = await scene.startAgent('no sandbox')
      expect(await scene.result(others)).toMatchObject({ status: 'answered', toolCalls: 2 })
      const waiting = { activity: 'session.open', code: 'SANDBOX_UNAVAILABLE' }
      await expect
        .poll(() => scene.retried(opening))
        .toMatchObject([{ ...waiting, message: expect.stringContaining('no answer within') }])
      daemon().goOn()
      expect(await opening.result()).toMatchObject({ outcome: { status: 'ok', output: 'opened\n' } })
      expect(await scene.containersLeft(opening)).toBe(0)
    }
    expect(await endures(moment, hangs, other)).toBe(1)
  })

  it('F14: that hangs for longer than the code may run is not taken for code that does not stop', async () => {
    const scene = await CrashScene.begin(noModel)
    scene.ledger.hold('b')
    const source = 'print((await charge(name="b"))["done"])'
    const { workflowId } = await scene.ptc.startProgram({ source, limits: { cellSeconds: 3 } })
    const handle = scene.client.workflow.getHandle(workflowId)
    onTestFinished(() => scene.removeContainers(handle).catch(() => undefined))
    await scene.ledger.askedFor('b')
    daemon().hang()
    onTestFinished(() => daemon().goOn())
    scene.ledger.release('b')
    const waiting = { activity: 'session.advance', code: 'SANDBOX_UNAVAILABLE' }
    await expect.poll(() => scene.retried(handle)).toMatchObject([waiting])
    daemon().goOn()
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'b\n' } })
    expect(scene.ledger.names).toEqual(['b'])
    expect(await scene.count(handle, 'session.open')).toBe(1)
    expect(await scene.containersLeft(handle)).toBe(0)
  })
})
