import { expect, test } from 'vitest'
import type { StepResult, StepInput } from '../../../../src/common/session/steps.js'
import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { SessionHarness } from '../../../../src/sandbox/conformance/session-harness.js'
import { Deferred } from '../../../support/tools.js'
import { useDockerBackend } from '../../../support/sandbox/docker-sandbox.js'

describeDocker('a value transfer to a container', () => {
  const backend = useDockerBackend()

  /** A session that waits for one result, and the step that delivers it. */
  async function startTransfer() {
    const firstWorker = await new SessionHarness(createDockerBackend()).open()
    const text = '"0123456789"\n'.repeat(1_000_000)
    const nextWorker = new SessionHarness(backend, {}, firstWorker.session)
    nextWorker.storeValue(text)
    const suspended = await firstWorker.executeStep({ type: 'cell', cell: 1, source: 'print(len(await get(1)))' })
    expect(suspended).toMatchObject({ type: 'suspended' })
    const input: StepInput = {
      type: 'results',
      results: [{ index: 1, outcome: { status: 'ok', value: firstWorker.storeValue(text) } }],
    }
    return { firstWorker, nextWorker, text, input }
  }

  /** Runs `action` when a worker has read this many chunks of the value. The worker continues after it. */
  function onChunk(count: number, worker: SessionHarness, action: () => unknown): void {
    const { readValue } = worker
    worker.readValue = async function* (ref, signal) {
      let chunks = 0
      for await (const chunk of readValue(ref, signal)) {
        chunks += 1
        if (chunks === count) await action()
        yield chunk
      }
    }
  }

  test('the next worker repeats a value transfer when the first one dies', async () => {
    const { firstWorker, nextWorker, text, input } = await startTransfer()
    onChunk(100, firstWorker, () => void firstWorker.host.shutdown())
    await Promise.allSettled([firstWorker.sendStep(2, input)])
    expect(await nextWorker.sendStep(2, input, 2)).toMatchObject({ type: 'completed', output: `${text.length}\n` })
    await nextWorker.close()
  })

  test('a value transfer by a worker wrongly considered dead is fenced, and does not disturb the next worker', async () => {
    const { firstWorker, nextWorker, text, input } = await startTransfer()
    const nextTransfers = new Deferred()
    onChunk(1, nextWorker, () => nextTransfers.resolve())
    let next: Promise<StepResult> | undefined
    onChunk(100, firstWorker, () => {
      next = nextWorker.sendStep(2, input, 2)
      return Promise.race([nextTransfers.promise, next])
    })
    // At its first attempt, in a sandbox that it opened itself, a worker accepts no other worker. It keeps the sandbox.
    const reason = 'the sandbox reported a newer worker where none can exist'
    expect(await firstWorker.sendStep(2, input)).toEqual({ type: 'lost', cause: 'protocol', reason })
    expect(await next).toMatchObject({ type: 'completed', output: `${text.length}\n` })
    await nextWorker.close()
  })
})
