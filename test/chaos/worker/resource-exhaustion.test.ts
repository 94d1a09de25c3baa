import type { WorkflowHandle } from '@temporalio/client'
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { pollOptions } from '../../support/poll-options.js'
import { answerResult, code, noModel, turn } from '../../support/script.js'
import { canMount, SmallDisk } from '../../support/faults/small-disk.js'
import { retryingActivities, scheduledCount, type RetryingActivity } from '../../support/environment/waits.js'
import { containerCount } from '../../support/environment/containers.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import type { ProcessEnvironment } from '../../support/environment/test-environment.js'

const mountable = await canMount()

/** Mounts a full disk; returns a function that frees space. */
async function fullDisk(): Promise<{ readonly folder: string; readonly makeRoom: () => Promise<void> }> {
  const disk = await SmallDisk.mount(2 ** 20)
  onTestFinished(() => disk.close())
  return { folder: disk.folder, makeRoom: await disk.fill() }
}

describeDocker('a worker', () => {
  describe.skipIf(!mountable)('with a full disk', () => {
    it('F35: with a full disk for values, a worker retries writes, and the run continues when there is space', async () => {
      const disk = await SmallDisk.mount(2 ** 20)
      onTestFinished(() => disk.close())
      const store = JSON.stringify({ kind: 'local', directory: disk.folder })
      const environment = { TEST_VALUE_STORE: store, TEST_SHORT_RETRIES: 'yes' }
      const { env, ledger } = await startWithLedger(noModel, { environment })
      ledger.holdReplies('a')
      const handle = await env.startProgram('await charge(name="a")\nprint("x" * 100_000)\nawait charge(name="b")')
      await ledger.waitForRequests('a')
      const makeRoom = await disk.fill()
      ledger.releaseReplies('a')
      const failure = { activity: 'session.step', code: 'VALUE_STORE_FULL' }
      await expect.poll(() => retryingActivities(handle)).toMatchObject([failure])
      await makeRoom()
      expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' }, toolCalls: 2 })
      expect(ledger.appliedNames).toEqual(['a', 'b'])
      expect(ledger.requests).toHaveLength(2)
      expect(await scheduledCount(handle, 'session.open')).toBe(1)
      expect(env.workers.first.isRunning).toBe(true)
      expect(await containerCount(handle)).toBe(0)
    })

    const script = [turn(code('print((await charge(name="a"))["done"])')), answerResult]

    it('F35: with a full disk for temporary files, a worker with Docker works, and takes over no attempt', async () => {
      const { folder } = await fullDisk()
      const { env } = await startWithLedger(script, { environment: { TMPDIR: folder } })
      const handle = await env.startAgent()
      expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'a' })
      // Apart from the ballast, there is only the folder of the workers of this host, with an empty record.
      const group = expect.stringMatching(/^durable-ptc-\d+-[\da-f]{12}$/)
      expect(readdirSync(folder).toSorted()).toEqual(['ballast', group])
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      const sizes = files.map(({ parentPath, name }) => [name, statSync(join(parentPath, name)).size])
      expect(sizes).toEqual(expect.arrayContaining([[expect.stringMatching(/\.attempts$/), 0]]))
      expect(files).toHaveLength(2)
    })

    it('F35: with a full disk for temporary files, the embedded sandbox reports the reason and waits', async () => {
      const { folder, makeRoom } = await fullDisk()
      const { env } = await startWithLedger(script, { backend: 'wasm', environment: { TMPDIR: folder } })
      const handle = await env.startAgent()
      const failure = {
        activity: 'session.open',
        code: 'SANDBOX_UNAVAILABLE',
        message: expect.stringContaining('ENOSPC'),
      }
      await expect.poll(() => retryingActivities(handle)).toMatchObject([failure])
      await makeRoom()
      expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'a' })
      expect(env.workers.first.isRunning).toBe(true)
    })
  })

  // A process that runs workflows aborts (SIGABRT), as after a kill -9: Node needs a file for their time limit.
  it('F35: without file descriptors a worker survives, reports the reason, and continues when it has some', async () => {
    const script = [turn(code('print((await charge(name="a"))["done"])')), answerResult]
    const { env, ledger } = await startWithLedger(script, {
      initialWorkers: [{ roles: ['model', 'tools', 'sandbox'] }],
    })
    await env.workers.start({ hostId: 'another-host', roles: ['workflow'] })
    const worker = env.workers.first
    const pid = String(worker.pid)
    const allow = (files: number): void => {
      execFileSync('prlimit', ['--pid', pid, `--nofile=${files}:`])
    }
    // Open files stay open. A new file needs a number below the limit, and stdin, stdout and stderr use those numbers.
    allow(3)
    const asking = await env.startAgent()
    await expect
      .poll(() => retryingActivities(asking))
      .toMatchObject([{ activity: 'model.turn', code: 'MODEL_CONNECTION' }])
    const starved = {
      activity: 'session.open',
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('EMFILE'),
    }
    const programs = await startProgramsUntilOpenFails(env)
    await expect.poll(() => retryingActivities(programs[0])).toMatchObject([starved])
    expect(worker.isRunning).toBe(true)
    allow(4_096)
    expect(await env.agentResult(asking)).toMatchObject({ status: 'answered', answer: 'a' })
    for (const program of programs)
      expect(await program.result()).toMatchObject({ outcome: { status: 'ok', output: 'b\n' } })
    expect(ledger.appliedNames).toEqual(['a'])
    for (const handle of [asking, ...programs]) expect(await containerCount(handle)).toBe(0)
  })
})

type AtLeastOne<Item> = readonly [Item, ...Item[]]

/**
 * Starts programs until the sandbox of one can't be opened; returns all of them, newest first. Open connections to
 * Docker still serve some programs, to completion or until a connection breaks.
 */
async function startProgramsUntilOpenFails(env: ProcessEnvironment): Promise<AtLeastOne<WorkflowHandle>> {
  const served: WorkflowHandle[] = []
  for (;;) {
    const program = await env.startProgram('print("b")')
    let retried: readonly RetryingActivity[] = []
    const isStuckOrOver = async () => {
      retried = await retryingActivities(program)
      return retried.length > 0 || (await program.describe()).status.name !== 'RUNNING'
    }
    await vi.waitUntil(isStuckOrOver, pollOptions)
    if (retried.some(({ activity }) => activity === 'session.open')) return [program, ...served]
    served.push(program)
  }
}
