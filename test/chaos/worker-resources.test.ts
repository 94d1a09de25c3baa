import type { WorkflowHandle } from '@temporalio/client'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { CrashScene, type Retried } from '../support/crash-scene.js'
import { describeDocker } from '../support/docker.js'
import { patient } from '../support/patient.js'
import { answerResult, code, noModel, turn } from '../support/script.js'
import { canMount, SmallDisk } from '../support/small-disk.js'

const mountable = await canMount()

/** Full; gives what makes room again. */
async function fullDisk(): Promise<{ readonly folder: string; readonly makeRoom: () => Promise<void> }> {
  const disk = await SmallDisk.mount(2 ** 20)
  onTestFinished(() => disk.close())
  return { folder: disk.folder, makeRoom: await disk.fill() }
}

describeDocker('a worker', () => {
  describe.skipIf(!mountable)('whose disk is full', () => {
    it('F35: under its values: what can not be kept is tried again, and the run goes on when there is room', async () => {
      const { folder, makeRoom } = await fullDisk()
      const store = JSON.stringify({ kind: 'local', directory: folder })
      const environment = { TEST_VALUE_STORE: store, TEST_IMPATIENT: 'yes' }
      const scene = await CrashScene.begin(noModel, { environment })
      const handle = await scene.startProgram('await charge(name="a")\nprint("x" * 100_000)\nawait charge(name="b")')
      const failure = { activity: 'session.advance', code: 'VALUE_STORE_FULL' }
      await expect.poll(() => scene.retried(handle)).toMatchObject([failure])
      await makeRoom()
      expect(await handle.result()).toMatchObject({ outcome: { status: 'ok' }, toolCalls: 2 })
      expect(scene.ledger.names).toEqual(['a', 'b'])
      expect(scene.ledger.asked).toHaveLength(2)
      expect(await scene.count(handle, 'session.open')).toBe(1)
      expect(scene.workers[0]?.running).toBe(true)
      expect(await scene.containersLeft(handle)).toBe(0)
    })

    const script = [turn(code('print((await charge(name="a"))["done"])')), answerResult]

    it('F35: under its temporary files: with Docker it needs none', async () => {
      const { folder } = await fullDisk()
      const scene = await CrashScene.begin(script, { environment: { TMPDIR: folder } })
      const handle = await scene.startAgent()
      expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'a' })
      expect(readdirSync(folder)).toEqual(['ballast'])
    })

    it('F35: under its temporary files: the embedded sandbox says so, and starts when there is room', async () => {
      const { folder, makeRoom } = await fullDisk()
      const scene = await CrashScene.begin(script, { backend: 'wasm', environment: { TMPDIR: folder } })
      const handle = await scene.startAgent()
      const failure = {
        activity: 'session.open',
        code: 'SANDBOX_UNAVAILABLE',
        message: expect.stringContaining('ENOSPC'),
      }
      await expect.poll(() => scene.retried(handle)).toMatchObject([failure])
      await makeRoom()
      expect(await scene.result(handle)).toMatchObject({ status: 'answered', answer: 'a' })
      expect(scene.workers[0]?.running).toBe(true)
    })
  })

  // Node itself gives up (SIGABRT) where it runs workflows: their time limit needs a file. Then it is as after a kill -9.
  it('F35: that may open no more files and sockets lives, says so, and goes on when it may', async () => {
    const script = [turn(code('print((await charge(name="a"))["done"])')), answerResult]
    const scene = await CrashScene.begin(script, { roles: 'model,tools,sandbox' })
    await scene.startWorker('another-host', {}, 'workflow')
    const [worker] = scene.workers
    const pid = String(worker?.pid)
    const allow = (files: number): void => {
      execFileSync('prlimit', ['--pid', pid, `--nofile=${files}:`])
    }
    // What is open stays so; a new one would need a number below the limit, and those are taken by stdin, stdout and stderr.
    allow(3)
    const asking = await scene.startAgent()
    await expect.poll(() => scene.retried(asking)).toMatchObject([{ activity: 'model.turn', code: 'MODEL_CONNECTION' }])
    const starved = {
      activity: 'session.open',
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('EMFILE'),
    }
    const programs = await programsUntilOneCanNotOpen(scene)
    await expect.poll(() => scene.retried(programs[0])).toMatchObject([starved])
    expect(worker?.running).toBe(true)
    allow(4_096)
    expect(await scene.result(asking)).toMatchObject({ status: 'answered', answer: 'a' })
    for (const program of programs)
      expect(await program.result()).toMatchObject({ outcome: { status: 'ok', output: 'b\n' } })
    expect(scene.ledger.names).toEqual(['a'])
    for (const handle of [asking, ...programs]) expect(await scene.containersLeft(handle)).toBe(0)
  })
})

type AtLeastOne<Item> = readonly [Item, ...Item[]]

/**
 * Programs, the newest first: the first whose sandbox can't be opened. Connections to Docker that are open already serve
 * some before it: to their end, or until the connection is gone in the middle.
 */
async function programsUntilOneCanNotOpen(scene: CrashScene): Promise<AtLeastOne<WorkflowHandle>> {
  const served: WorkflowHandle[] = []
  for (;;) {
    const program = await scene.startProgram('print("b")')
    let retried: readonly Retried[] = []
    const isStuckOrOver = async () => {
      retried = await scene.retried(program)
      return retried.length > 0 || (await program.describe()).status.name !== 'RUNNING'
    }
    await vi.waitUntil(isStuckOrOver, patient)
    if (retried.some(({ activity }) => activity === 'session.open')) return [program, ...served]
    served.push(program)
  }
}
