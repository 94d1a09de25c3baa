import { expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { Script } from '../../src/testing/index.js'
import { CrashScene } from '../support/crash-scene.js'
import { describeDocker } from '../support/docker.js'
import { patient } from '../support/patient.js'
import { code, text, turn } from '../support/script.js'

const answer = turn(text('it is {{last_tool_result}}'))

/** What was charged, after code that may run until it is let go on. */
const charging = (busy = false): Script => [
  turn(
    code(`
import os
done = [(await charge(name="a"))["done"]]
while ${busy ? 'True' : 'False'} and not os.path.exists("/tmp/go"): pass
done.append((await charge(name="b"))["done"])
print(",".join(done))
`),
  ),
  answer,
]

const mailing: Script = [
  turn(code('try:\n    print(await send_once(name="mail"))\nexcept ToolOutcomeUnknown as e:\n    print(e.status)')),
  answer,
]

/** A run until its tool is asked for this effect, whose reply is held back; then another worker is there too. */
async function heldAt(effect: string, script: Script) {
  const scene = await CrashScene.begin(script)
  scene.ledger.hold(effect)
  const handle = await scene.startAgent()
  await scene.ledger.askedFor(effect)
  await scene.startWorker()
  return { scene, handle }
}

/** A run until its code is busy; then another worker is there too. */
async function busy() {
  const scene = await CrashScene.begin(charging(true))
  const handle = await scene.startAgent()
  await scene.activityRuns(handle, 'session.advance', 1)
  await scene.startWorker()
  return { scene, handle }
}

/** The sandbox was handed over as it was, and nothing happened twice. */
async function wasHandedOver(scene: CrashScene, handle: WorkflowHandle, answer: string, effects: readonly string[]) {
  expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: `it is ${answer}`, turns: 2 })
  expect(scene.ledger.names).toEqual(effects)
  expect(await scene.count(handle, 'session.open')).toBe(1)
  expect(await scene.containersLeft(handle)).toBe(0)
  await scene.replays(handle)
}

describeDocker('SIGTERM of a worker, while another one on its host is there,', () => {
  it('F10: lets a tool end that ends in time; the process ends with 0', async () => {
    const { scene, handle } = await heldAt('b', charging())
    scene.firstWorker.signal('SIGTERM')
    await scene.firstWorker.says(/finishing what is under way/)
    scene.ledger.release('b')
    await wasHandedOver(scene, handle, 'a,b', ['a', 'b'])
    expect(scene.ledger.asked).toHaveLength(2)
    await expect.poll(() => scene.firstWorker.exitCode).toBe(0)
  })

  it('F10: leaves a tool that takes longer than the grace to the other, under the same key', async () => {
    const { scene, handle } = await heldAt('b', charging())
    await scene.firstWorker.kill('SIGTERM')
    expect(scene.firstWorker.exitCode).toBe(0)
    await scene.ledger.askedFor('b', 2)
    scene.ledger.release('b')
    await wasHandedOver(scene, handle, 'a,b', ['a', 'b'])
  })

  it("F10: tells the code of a 'once' tool that takes longer than the grace, and does not repeat it", async () => {
    const { scene, handle } = await heldAt('mail', mailing)
    await scene.firstWorker.kill('SIGTERM')
    expect(scene.firstWorker.exitCode).toBe(0)
    await wasHandedOver(scene, handle, 'outcome_unknown', ['mail'])
    expect(scene.ledger.asked).toHaveLength(1)
  })

  it('F10: lets code run on in its container, where the other finds it', async () => {
    const { scene, handle } = await busy()
    await scene.firstWorker.kill('SIGTERM')
    expect(scene.firstWorker.exitCode).toBe(0)
    // Handed over, not missed: no heartbeat had to be waited for.
    await scene.attempts(handle, 'session.advance', 2)
    expect(await scene.lastFailure(handle, 'session.advance')).toBe('WorkerShutdown')
    await scene.letGoOn(handle)
    await wasHandedOver(scene, handle, 'a,b', ['a', 'b'])
    expect(scene.ledger.asked).toHaveLength(2)
  })

  it('F10: twice ends it at once; the other goes on', async () => {
    const { scene, handle } = await heldAt('b', charging())
    scene.firstWorker.signal('SIGTERM')
    await scene.firstWorker.says(/once more to end at once/)
    await scene.firstWorker.kill('SIGTERM')
    expect(scene.firstWorker.exitCode).toBe(130)
    await scene.ledger.askedFor('b', 2)
    scene.ledger.release('b')
    await wasHandedOver(scene, handle, 'a,b', ['a', 'b'])
  })
})

describeDocker('a worker that stands still for longer than its heartbeats (SIGSTOP), and then goes on,', () => {
  it('F10: under a tool: another takes the call over, the effect is single', async () => {
    const { scene, handle } = await heldAt('b', charging())
    scene.firstWorker.signal('SIGSTOP')
    await scene.ledger.askedFor('b', 2)
    scene.firstWorker.signal('SIGCONT')
    scene.ledger.release('b')
    await wasHandedOver(scene, handle, 'a,b', ['a', 'b'])
  })

  it("F10: under a 'once' tool: the code is told, the tool is not run again", async () => {
    const { scene, handle } = await heldAt('mail', mailing)
    scene.firstWorker.signal('SIGSTOP')
    await scene.told(handle, 'send_once')
    scene.firstWorker.signal('SIGCONT')
    scene.ledger.release('mail')
    await wasHandedOver(scene, handle, 'outcome_unknown', ['mail'])
    expect(scene.ledger.asked).toHaveLength(1)
  })

  it('F10: while code runs: another drives it on, and the one that comes back is fenced off', async () => {
    const { scene, handle } = await busy()
    scene.firstWorker.signal('SIGSTOP')
    await scene.attempts(handle, 'session.advance', 2)
    scene.firstWorker.signal('SIGCONT')
    await scene.letGoOn(handle)
    await wasHandedOver(scene, handle, 'a,b', ['a', 'b'])
  })
})

describeDocker('a rolling deployment, with workers that lack a tool beside those that have it,', () => {
  it.each(['charge', 'send_once'] as const)(
    'F10: hands calls of %s back until a worker that has it takes them; each effect happens once',
    async (lacking) => {
      const calls = [1, 2, 3, 4].map((number) => `${lacking}(name="effect-${number}")`).join(', ')
      const script: Script = [
        turn(code(`import asyncio\nawait charge(name="first")\nawait asyncio.gather(${calls})\nprint("done")`)),
        answer,
      ]
      const scene = await CrashScene.begin(script)
      scene.ledger.hold('first')
      const handle = await scene.startAgent()
      await scene.ledger.askedFor('first')
      await scene.startWorker(undefined, { TEST_LACKS_TOOL: lacking })
      scene.ledger.release('first')
      await scene.firstWorker.kill()
      await expect
        .poll(() => scene.retried(handle), patient)
        .toContainEqual(expect.objectContaining({ activity: lacking, code: 'TOOL_NOT_REGISTERED' }))
      await scene.startWorker()
      expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'it is done', turns: 2 })
      expect(scene.ledger.names.toSorted()).toEqual(['effect-1', 'effect-2', 'effect-3', 'effect-4', 'first'])
      expect(await scene.containersLeft(handle)).toBe(0)
      await scene.replays(handle)
    },
  )
})

describeDocker('a worker that is killed under a tool which reports its progress,', () => {
  it('F06: the next attempt begins where the tool said it was', async () => {
    const scene = await CrashScene.begin([turn(code('print(await copy_pages())')), answer])
    scene.ledger.hold('page-2')
    const handle = await scene.startAgent()
    await scene.ledger.askedFor('page-2')
    await scene.heartbeats(handle, 'copy_pages', 2)
    await scene.replaceWorker()
    await scene.ledger.askedFor('page-2', 2)
    scene.ledger.release('page-2')
    expect(await scene.result(handle)).toMatchObject({ answer: "it is ['page-2', 'page-3']" })
    expect(scene.ledger.names).toEqual(['page-1', 'page-2', 'page-3'])
    await scene.replays(handle)
  })
})
