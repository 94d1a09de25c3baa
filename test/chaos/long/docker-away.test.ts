import { setTimeout as passing } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { CrashScene } from '../../support/crash-scene.js'
import { describeOwnDaemon } from '../../support/docker.js'
import { OwnDaemon } from '../../support/own-daemon.js'
import { noModel } from '../../support/script.js'

/** More than the attempts of a step take together. */
const awayMs = 150_000

describeOwnDaemon('a Docker daemon that is away for minutes', () => {
  it('F14: a run that has done something waits for the next one, and is rebuilt there', async () => {
    const daemon = await OwnDaemon.start()
    onTestFinished(() => daemon.close())
    vi.stubEnv('DOCKER_HOST', daemon.host)
    onTestFinished(() => void vi.unstubAllEnvs())
    const scene = await CrashScene.begin(noModel)
    scene.ledger.hold('b')
    const handle = await scene.startProgram('print([(await charge(name=n))["done"] for n in "abc"])')
    await scene.ledger.askedFor('b')
    await daemon.kill()
    scene.ledger.release('b')
    await passing(awayMs)
    const waiting = { activity: 'session.open', code: 'SANDBOX_UNAVAILABLE' }
    await expect.poll(() => scene.retried(handle)).toMatchObject([waiting])
    await daemon.startAgain()
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: "['a', 'b', 'c']\n" } })
    expect(scene.ledger.names).toEqual(['a', 'b', 'c'])
    expect(scene.ledger.asked).toHaveLength(3)
    await scene.replays(handle)
  })
})
