import { existsSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { defaultLimits } from '../../../src/common/run/limits.js'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { SessionHost } from '../../../src/sandbox/session/session-host.js'
import { reap } from '../../../src/worker/resources/reaper.js'
import { neverAborted } from '../../support/sandbox/docker-sandbox.js'
import { describeGvisor, gvisorRuntime, missingForPrivateDaemon } from '../../support/docker/describe-gvisor.js'
import { PrivateDockerDaemon } from '../../support/docker/private-daemon.js'
import { sessionSummaries } from '../../support/environment/activity-summaries.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { Deferred, tool } from '../../support/tools.js'

/** State that no rebuild restores: a random number, a thread, an open file. It completes only while the thread runs. */
const unrepeatable = `
import os, threading, time
secret = os.urandom(8).hex()
count = 0
ended = False
def work():
    global count
    while not ended:
        count += 1
        time.sleep(0.01)
thread = threading.Thread(target=work)
thread.start()
file = open("/tmp/notes", "w+")
file.write(secret)
await charge(name=secret)
mail = await wait_for_mail()
reached = count
while count == reached: time.sleep(0.01)
file.seek(0)
print(mail, reached > 0, file.read() == secret)
ended = True
thread.join()
await charge(name=secret)
`

const repeatable = `
kept = await charge(name="before")
print(await wait_for_mail(), kept)
await charge(name="after")
`

describeGvisor('a parked program under gVisor with checkpoints', missingForPrivateDaemon(), () => {
  let daemon: PrivateDockerDaemon
  beforeAll(async () => {
    daemon = await PrivateDockerDaemon.start()
    vi.stubEnv('DOCKER_HOST', daemon.host)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await daemon?.close()
  })

  /** Starts a program and waits until it is parked; it continues when the mail arrives. */
  async function parked(source: string) {
    const effects: unknown[] = []
    const mail = new Deferred<string>()
    const tools = [tool('charge', ({ name }) => effects.push(name)), tool('wait_for_mail', () => mail.promise)]
    const env = await TestEnvironment.start({
      tools,
      backend: 'docker',
      runtime: gvisorRuntime,
      timeouts: { park: '1s' },
    })
    const handle = await env.startProgram(source)
    await expect.poll(() => hasCompleted(env, handle, 'session.park')).toBe(true)
    const [container] = await env.containers(handle)
    const directory = daemon.containerDirectory(container?.Id ?? '')
    const checkpoint = join(directory, 'checkpoints/parked/checkpoint.img')
    return { env, handle, container, directory, checkpoint, effects, mail }
  }

  it('a parked program is stored on disk, and continues with its variables, threads and files', async () => {
    const { env, handle, container, directory, checkpoint, effects, mail } = await parked(unrepeatable)
    expect(container?.State).toBe('exited')
    expect(existsSync(checkpoint)).toBe(true)
    mail.resolve('a letter')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'a letter True True\n' } })
    expect(effects).toHaveLength(2)
    expect(effects[0]).toBe(effects[1])
    // A program with a thread has timer steps, parked or not. A rebuild would be a different kind of step.
    const taken = (await sessionSummaries(env)).filter((step) => step !== 'continue: a timer is due')
    expect([...new Set(taken.map((step) => step?.replace(/^(resume the session): .*/, '$1')))]).toEqual([
      'open a session (docker)',
      'run cell 1',
      'continue with 1 result',
      'park the session',
      'resume the session',
      'close the session',
    ])
    await env.expectCleanEnd(handle)
    expect(existsSync(directory)).toBe(false)
  })

  it.each(['SIGTERM', 'SIGKILL'] as const)('F38: a parked program survives %s of the daemon', async (signal) => {
    const { env, handle, effects, mail } = await parked(unrepeatable)
    await daemon.restart(signal)
    mail.resolve('a letter')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'a letter True True\n' } })
    expect(effects).toHaveLength(2)
    await env.expectCleanEnd(handle)
  })

  it('a parked program survives the end of its worker, and the next worker resumes it', async () => {
    const env = await TestEnvironment.start({ backend: 'docker', runtime: gvisorRuntime, timeouts: { park: '1s' } })
    const source = 'import asyncio, os\nx = os.urandom(4)\ny = x\nawait asyncio.sleep(5)\nprint(x == y)'
    const handle = await env.startProgram(source)
    await expect.poll(() => hasCompleted(env, handle, 'session.park')).toBe(true)
    await env.workers.stop()
    await env.workers.start()
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'True\n' } })
    expect(await sessionSummaries(env)).not.toContain('resume the session (2)')
    await env.expectCleanEnd(handle)
  })

  it('a program that waits a second time is rebuilt, and parked again in its next container', async () => {
    const effects: unknown[] = []
    const tools = [tool('charge', ({ name }) => effects.push(name))]
    const env = await TestEnvironment.start({
      tools,
      backend: 'docker',
      runtime: gvisorRuntime,
      timeouts: { park: '500ms' },
    })
    const source =
      'import asyncio\nfor n in range(3):\n    await charge(name=n)\n    await asyncio.sleep(2)\nprint("woke")'
    expect(await env.runProgram(source)).toMatchObject({ outcome: { status: 'ok', output: 'woke\n' } })
    expect(effects).toEqual([0, 1, 2])
    expect((await sessionSummaries(env)).filter((step) => step?.includes('resume the session'))).toEqual([
      'resume the session: continue: a timer is due',
      'resume the session (2)',
      'resume the session: continue: a timer is due',
    ])
  })

  it.each([
    { damage: 'deleted', damageFile: (file: string) => rmSync(join(file, '..'), { recursive: true }) },
    { damage: 'cut off', damageFile: (file: string) => truncateSync(file, 50_000) },
  ])(
    'F38: a parked program is rebuilt when its checkpoint is $damage, and repeats no effect',
    async ({ damageFile }) => {
      const { env, handle, checkpoint, effects, mail } = await parked(repeatable)
      damageFile(checkpoint)
      mail.resolve('a letter')
      expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'a letter 1\n' }, toolCalls: 3 })
      expect(effects).toEqual(['before', 'after'])
      expect(await sessionSummaries(env)).toContain('rebuild the session (2)')
      await env.expectCleanEnd(handle)
    },
  )

  it('a parked program can be cancelled, and leaves nothing behind', async () => {
    const { env, handle, directory } = await parked(repeatable)
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow(/cancel/i)
    await env.expectCleanEnd(handle)
    expect(existsSync(directory)).toBe(false)
  })

  it('the reaper keeps a parked program while its run is open, and removes it later', async () => {
    const owner = uniqueName('reaper')
    const docker = createDockerBackend({ runtime: gvisorRuntime, lifetimeSeconds: 1 })
    onTestFinished(() => docker.close())
    const host = new SessionHost({ namespace: owner, backends: [docker], tools: [] })
    const session = { id: 'waits', epoch: 1, backend: 'docker' as const, startedAt: 0 }
    await host.open(
      session,
      { workflowId: 'run', runId: 'run', language: 'python', limits: defaultLimits },
      neverAborted,
    )
    expect(await host.park(session, neverAborted)).toBe(true)
    const sandboxes = () => docker.listSandboxes(owner)
    const [sandbox] = await sandboxes()
    expect(sandbox).toMatchObject({ state: 'parked' })
    await expect.poll(() => new Date() > (sandbox?.expiresAt ?? Infinity)).toBe(true)
    let isRunning = true
    const round = () => reap({ docker, host, owner, isRunning: async () => isRunning, onProgress: () => undefined })
    await round()
    expect(await sandboxes()).toHaveLength(1)
    isRunning = false
    await round()
    expect(await sandboxes()).toEqual([])
    expect(existsSync(daemon.containerDirectory(sandbox?.containerId ?? ''))).toBe(false)
  })
})

/** True when an activity of this type has completed. */
async function hasCompleted(env: TestEnvironment, handle: WorkflowHandle, type: string): Promise<boolean> {
  const { events } = await env.history(handle)
  const scheduled = events.find(
    ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name === type,
  )
  return events.some(({ activityTaskCompletedEventAttributes: completed }) => {
    return (
      completed !== null && scheduled !== undefined && String(completed?.scheduledEventId) === String(scheduled.eventId)
    )
  })
}
