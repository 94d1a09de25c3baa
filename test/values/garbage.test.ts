import { readdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { valueRoots } from '../../src/client/value-roots.js'
import { defineTool } from '../../src/index.js'
import { collectGarbage } from '../../src/values/collect-garbage.js'
import { LocalStore } from '../../src/values/local-store.js'
import { Stack } from '../support/stack.js'
import { testTemporal } from '../support/temporal.js'

const signal = new AbortController().signal
const rows = defineTool({
  name: 'rows',
  description: 'Many rows.',
  input: z.object({}),
  output: z.array(z.string()),
  effect: 'read',
  run: () => Array.from({ length: 2_000 }, (_, row) => `row ${row}`),
})

it('keeps every value of a run until the server forgets it', async () => {
  const stack = await Stack.start({ tools: [rows] })
  const store = new LocalStore(stack.valuesDirectory)
  const collect = () =>
    collectGarbage({
      store,
      roots: () => valueRoots(stack.client, signal),
      unusedSince: Date.now() + 60_000,
      dryRun: false,
      signal,
    })

  await stack.run('answer = await rows()\nprint(len(answer), *answer)')
  const stray = await store.put([Buffer.from('nobody refers to this')], signal)
  await listed(stack)
  const first = await collect()
  expect(first.values.count).toBeGreaterThan(1)
  expect(first.removed).toEqual({ count: 1, bytes: stray.bytes })
  await stack.leftClean(stack.lastRun)

  const { namespace } = testTemporal()
  const { workflowId } = stack.lastRun
  await stack.client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } })
  await forgotten(stack)
  const second = await collect()
  expect(second).toMatchObject({ values: { count: first.values.count - 1 }, removed: second.values })
  expect(
    (await readdir(stack.valuesDirectory, { recursive: true, withFileTypes: true })).filter((file) => file.isFile()),
  ).toEqual([])
})

/** Visibility lags behind. */
async function listed({ client, lastRun }: Stack): Promise<void> {
  while (!(await isListed(client, lastRun.workflowId))) await delay(100)
}

/** A server deletes when it has time. */
async function forgotten({ client, lastRun }: Stack): Promise<void> {
  while (await isListed(client, lastRun.workflowId)) await delay(100)
}

async function isListed(client: Stack['client'], workflowId: string): Promise<boolean> {
  return (await client.workflow.count(`WorkflowId = '${workflowId}'`)).count > 0
}
