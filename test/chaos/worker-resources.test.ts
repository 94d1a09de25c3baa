import type { WorkflowHandle } from '@temporalio/client'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CrashScene } from '../support/crash-scene.js'
import { describeDocker } from '../support/docker.js'
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
    const opening = await programThatWaits(scene)
    expect(await scene.retried(opening)).toMatchObject([starved])
    expect(worker?.running).toBe(true)
    allow(4_096)
    expect(await scene.result(asking)).toMatchObject({ status: 'answered', answer: 'a' })
    expect(await opening.result()).toMatchObject({ outcome: { status: 'ok', output: 'b\n' } })
    expect(scene.ledger.names).toEqual(['a'])
    for (const handle of [asking, opening]) expect(await scene.containersLeft(handle)).toBe(0)
  })
})

/** A program whose sandbox can't be opened. Connections to Docker that are open already serve some before it. */
async function programThatWaits(scene: CrashScene): Promise<WorkflowHandle> {
  for (;;) {
    const program = await scene.startProgram('print("b")')
    for (let isRunning = true; isRunning; isRunning = (await program.describe()).status.name === 'RUNNING') {
      if ((await scene.retried(program)).length > 0) return program
    }
  }
}
