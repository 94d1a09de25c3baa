import { expect, test } from 'vitest'
import type { StepAnswer, StepInput } from '../../src/common/steps.js'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { describeDocker } from '../support/docker.js'
import { Notebook } from '../../src/sandbox/conformance/notebook.js'
import { Happening } from '../support/tools.js'
import { sharedBackend } from './docker-support.js'

describeDocker('a transfer of values to a container', () => {
  const backend = sharedBackend()

  /** A notebook that waits for one result, and the step that brings it. */
  async function waiting() {
    const mine = await new Notebook(createDockerBackend()).open()
    const text = '"0123456789"\n'.repeat(1_000_000)
    const heir = new Notebook(backend, {}, mine.session)
    heir.keep(text)
    const begun = await mine.advance({ type: 'cell', cell: 1, source: 'print(len(await get(1)))' })
    expect(begun).toMatchObject({ type: 'suspended' })
    const input: StepInput = {
      type: 'results',
      results: [{ index: 1, outcome: { status: 'ok', value: mine.keep(text) } }],
    }
    return { mine, heir, text, input }
  }

  /** Runs an event when a worker has read so many chunks of the value, and lets it read on when the event is over. */
  function atChunk(wanted: number, worker: Notebook, event: () => unknown): void {
    const { readValue } = worker
    worker.readValue = async function* (ref, signal) {
      let chunks = 0
      for await (const chunk of readValue(ref, signal)) {
        chunks += 1
        if (chunks === wanted) await event()
        yield chunk
      }
    }
  }

  test('that breaks off with its worker begins again with the next', async () => {
    const { mine, heir, text, input } = await waiting()
    atChunk(100, mine, () => void mine.host.shutdown())
    await Promise.allSettled([mine.send(2, input)])
    expect(await heir.send(2, input, 2)).toMatchObject({ type: 'completed', output: `${text.length}\n` })
    await heir.close()
  })

  test('by a worker that is only believed dead is fenced off, and does not hurt that of the next', async () => {
    const { mine, heir, text, input } = await waiting()
    const heirTransfers = new Happening()
    atChunk(1, heir, () => heirTransfers.happen())
    let next: Promise<StepAnswer> | undefined
    atChunk(100, mine, () => {
      next = heir.send(2, input, 2)
      return Promise.race([heirTransfers.happened, next])
    })
    // At its first attempt, in a sandbox it opened itself, a worker believes in no other; it leaves the sandbox alive.
    const reason = 'the sandbox made up another worker'
    expect(await mine.send(2, input)).toEqual({ type: 'lost', cause: 'protocol', reason })
    expect(await next).toMatchObject({ type: 'completed', output: `${text.length}\n` })
    await heir.close()
  })
})
