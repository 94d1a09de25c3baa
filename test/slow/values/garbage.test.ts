import { readdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { gcRoots } from '../../../src/client/temporal/gc-roots.js'
import { defineTool } from '../../../src/index.js'
import { collectGarbage } from '../../../src/values/garbage/collect-garbage.js'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { sharedServer, useOwnNamespace } from '../../support/temporal/shared-server.js'

const signal = new AbortController().signal
const rows = defineTool({
  name: 'rows',
  description: 'Many rows.',
  input: z.object({}),
  output: z.array(z.string()),
  effect: 'read',
  run: () => Array.from({ length: 2_000 }, (_, row) => `row ${row}`),
})

beforeEach(useOwnNamespace)

it('garbage collection keeps every value of a run until the run is deleted from the server', async () => {
  const env = await TestEnvironment.start({ tools: [rows] })
  const store = new LocalStore(env.valuesDirectory)
  const collect = () =>
    collectGarbage({
      store,
      roots: () => gcRoots(env.client, signal),
      unusedSince: Date.now() + 60_000,
      dryRun: false,
      signal,
    })

  await env.runProgram('answer = await rows()\nprint(len(answer), *answer)')
  const unreferenced = await store.put([Buffer.from('nobody refers to this')], signal)
  await waitUntilListed(env)
  const first = await collect()
  expect(first.values.count).toBeGreaterThan(1)
  expect(first.removed).toEqual({ count: 1, bytes: unreferenced.bytes })
  await env.expectCleanEnd(env.lastRun)

  const { namespace } = sharedServer()
  const { workflowId } = env.lastRun
  await env.client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } })
  await waitUntilDeleted(env)
  const second = await collect()
  expect(second).toMatchObject({ values: { count: first.values.count - 1 }, removed: second.values })
  expect(
    (await readdir(env.valuesDirectory, { recursive: true, withFileTypes: true })).filter((file) => file.isFile()),
  ).toEqual([])
})

/** The visibility store is eventually consistent. */
async function waitUntilListed({ client, lastRun }: TestEnvironment): Promise<void> {
  while (!(await isListed(client, lastRun.workflowId))) await delay(100)
}

/** The server deletes asynchronously. */
async function waitUntilDeleted({ client, lastRun }: TestEnvironment): Promise<void> {
  while (await isListed(client, lastRun.workflowId)) await delay(100)
}

async function isListed(client: TestEnvironment['client'], workflowId: string): Promise<boolean> {
  return (await client.workflow.count(`WorkflowId = '${workflowId}'`)).count > 0
}
