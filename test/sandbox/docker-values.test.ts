import { expect, test } from 'vitest'
import type { StepAnswer, StepInput } from '../../src/common/steps.js'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { describeDocker } from '../support/docker.js'
import { Notebook } from '../../src/sandbox/conformance/notebook.js'
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

  /** What the reader of a worker does in the middle of the transfer. */
  function halfway(mine: Notebook, event: () => void): void {
    const { readValue } = mine
    mine.readValue = async function* (ref, signal) {
      let chunks = 0
      for await (const chunk of readValue(ref, signal)) {
        chunks += 1
        if (chunks === 100) event()
        yield chunk
      }
    }
  }

  test('that breaks off with its worker begins again with the next', async () => {
    const { mine, heir, text, input } = await waiting()
    halfway(mine, () => void mine.host.shutdown())
    await Promise.allSettled([mine.send(2, input)])
    expect(await heir.send(2, input, 2)).toMatchObject({ type: 'completed', output: `${text.length}\n` })
    await heir.close()
  })

  test('by a worker that is only believed dead is fenced off, and does not hurt that of the next', async () => {
    const { mine, heir, text, input } = await waiting()
    let next: Promise<StepAnswer> | undefined
    halfway(mine, () => {
      next = heir.send(2, input, 2)
    })
    const first = await mine.send(2, input).catch((thrown: unknown) => thrown)
    console.log(first)
    expect(await next).toMatchObject({ type: 'completed', output: `${text.length}\n` })
    await heir.close()
  })
})
