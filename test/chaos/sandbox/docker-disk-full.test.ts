import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { describePrivateDaemon } from '../../support/docker/describe-docker.js'
import { PrivateDockerDaemon } from '../../support/docker/private-daemon.js'
import { noModel } from '../../support/script.js'
import { SmallDisk } from '../../support/faults/small-disk.js'
import { retryingActivities } from '../../support/environment/waits.js'
import { containerCount } from '../../support/environment/containers.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'

/** Space for the sandbox image twice: while it is loaded, the packed image is on the disk too. */
const diskBytes = 1024 ** 3

/** An attempt may be shorter than the polling interval. */
const atLeast = (attempt: number): unknown => expect.toSatisfy((tried: number) => tried >= attempt)

describePrivateDaemon('a Docker daemon on a small disk', () => {
  let disk: SmallDisk
  let daemon: PrivateDockerDaemon
  beforeAll(async () => {
    disk = await SmallDisk.mount(diskBytes)
    daemon = await PrivateDockerDaemon.start({ dataRoot: disk.folder })
    vi.stubEnv('DOCKER_HOST', daemon.host)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await daemon?.close()
    await disk?.close()
  })

  it("F16: when Docker's disk is full, runs that need a new sandbox report it, wait, and then continue", async () => {
    const { env, ledger } = await startWithLedger(noModel)
    ledger.holdReplies('live')
    const source = (name: string): string => `print((await charge(name="${name}"))["done"])`
    const live = await env.startProgram(source('live'))
    await ledger.waitForRequests('live')

    const makeRoom = await disk.fill()
    onTestFinished(makeRoom)
    const starved = await env.startProgram(source('starved'))
    const failure = { activity: 'session.open', code: 'SANDBOX_UNAVAILABLE' }
    const noSpace = expect.stringContaining('no space left on device')
    await expect
      .poll(() => retryingActivities(starved))
      .toMatchObject([{ ...failure, attempt: atLeast(6), message: noSpace }])
    ledger.releaseReplies('live')
    expect(await live.result()).toMatchObject({ outcome: { status: 'ok', output: 'live\n' } })

    await makeRoom()
    expect(await starved.result()).toMatchObject({ outcome: { status: 'ok', output: 'starved\n' } })
    expect(ledger.appliedNames).toEqual(['live', 'starved'])
    for (const handle of [live, starved]) expect(await containerCount(handle)).toBe(0)
  })

  it('F16: without the sandbox image, a run waits and reports the remedy; it continues when the image is back', async () => {
    const { env } = await startWithLedger(noModel)
    await daemon.removeImage()
    const handle = await env.startProgram('print("made")')
    const failure = { activity: 'session.open', code: 'SANDBOX_IMAGE_MISSING' }
    await expect.poll(() => retryingActivities(handle)).toMatchObject([{ ...failure, attempt: atLeast(3) }])
    await daemon.loadImage()
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'made\n' } })
    expect(await containerCount(handle)).toBe(0)
  })
})
