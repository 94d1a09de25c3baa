import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../../src/index.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'

it('lists the same waits of all runs from their worker, and from their histories without a worker', async () => {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ euros: z.number() }),
    output: z.string(),
    effect: 'once',
    approval: 'always',
    run: ({ euros }) => `paid ${euros}`,
  })
  const env = await TestEnvironment.start({ tools: [pay] })
  const { workflowId } = await env.startProgram('await pay(euros=1)')
  const waits = async () =>
    (await env.ptc.waits()).map(({ run, wait }) => {
      if (wait.type === 'budget') throw new Error('the run has no budget')
      // A history has the times of events, which differ by milliseconds.
      const { since, expiresAt, ...call } = wait
      return { run: run.workflowId, waitMs: expiresAt - since, ...call }
    })
  await expect.poll(waits).toMatchObject([{ run: workflowId, type: 'approval', arguments: { euros: 1 } }])
  const answered = await waits()
  await env.workers.stop()
  expect(await waits()).toEqual(answered)
})
