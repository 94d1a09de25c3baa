import { expect, it } from 'vitest'
import { CrashScene } from '../../support/crash-scene.js'
import { describeDocker } from '../../support/docker.js'
import { answerResult, code, turn } from '../../support/script.js'

const script = [
  turn(code('done = [(await charge(name="a"))["done"]]')),
  turn(
    code(`
import os
done.append((await charge(name="b"))["done"])
while not os.path.exists("/tmp/go"): pass
done.append((await charge(name="c"))["done"])
print(",".join(done))
`),
  ),
  answerResult,
]

describeDocker('two workers of one host, one of them stopped until it counts as dead', () => {
  it('F36: while the code runs: both are attached when it goes on, and each effect happens once', async () => {
    const scene = await CrashScene.begin(script)
    const [first] = scene.workers
    scene.ledger.hold('c')
    const handle = await scene.startAgent()
    await scene.activityRuns(handle, 'session.advance', 3)
    first?.signal('SIGSTOP')
    const second = await scene.startWorker()
    await scene.takenOverBy(second, handle, 'session.advance')
    first?.signal('SIGCONT')
    await scene.letGoOn(handle)
    await scene.ledger.askedFor('c')
    scene.ledger.release('c')
    expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c', turns: 3, toolCalls: 3 })
    expect(scene.ledger.names).toEqual(['a', 'b', 'c'])
    expect(scene.answeredTurns).toBe(3)
    expect(await scene.count(handle, 'session.open')).toBe(1)
    expect(first?.running).toBe(true)
    expect(await scene.containersLeft(handle)).toBe(0)
    await scene.replays(handle)
  })

  it('F36: while the code waits for a tool: what the first knows of it comes too late', async () => {
    const scene = await CrashScene.begin(script)
    const [first] = scene.workers
    scene.ledger.hold('b')
    const handle = await scene.startAgent()
    await scene.ledger.askedFor('b')
    first?.signal('SIGSTOP')
    await scene.startWorker()
    await scene.ledger.askedFor('b', 2)
    scene.ledger.release('b')
    // Its attempt of the tool was answered while it was stopped.
    first?.signal('SIGCONT')
    await scene.letGoOn(handle)
    expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'a,b,c', turns: 3, toolCalls: 3 })
    expect(scene.ledger.names).toEqual(['a', 'b', 'c'])
    expect(await scene.count(handle, 'session.open')).toBe(1)
    // Both are of use again.
    const next = await scene.startAgent()
    await scene.letGoOn(next)
    expect(await scene.result(next)).toMatchObject({ status: 'answered', answer: 'a,b,c' })
    expect(scene.ledger.names).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
    for (const run of [handle, next]) {
      expect(await scene.containersLeft(run)).toBe(0)
      await scene.replays(run)
    }
  })
})
