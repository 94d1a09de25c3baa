import { beforeEach, expect, it } from 'vitest'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { TestProject } from '../../support/cli/ptc.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { WorkerClock } from '../../support/faults/worker-clock.js'
import { sharedServer, useOwnNamespace } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'
import { listAll, readAll } from '../../support/values/conformance.js'

// Erasing reads the histories of all runs of a namespace.
beforeEach(useOwnNamespace)

const rows = tool('rows', () => Array.from({ length: 2_000 }, (_, row) => `private ${row}`))

it('ptc values erase refuses an unknown and an open run, and erases a finished one with its values', async () => {
  const env = await TestEnvironment.start({ tools: [rows], backend: 'wasm' })
  const clock = new WorkerClock()
  const { address, namespace } = sharedServer()
  const store = { kind: 'local', directory: env.valuesDirectory }
  const configuration = { tools: [], taskQueue: env.taskQueue, values: { store } }
  await using project = await TestProject.create(
    { 'ptc.config.mjs': `export default ${JSON.stringify(configuration)}` },
    { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ...clock.environment },
  )
  const erase = (...options: readonly string[]) => project.run('values', 'erase', ...options)
  const contents = async () => {
    const values = new LocalStore(env.valuesDirectory)
    const read = (await listAll(values)).map((value) => readAll(values, value))
    return Buffer.concat(await Promise.all(read)).toString()
  }
  const finished = await env.startProgram('print(len(await rows()))')
  const id = finished.workflowId
  await finished.result()
  const open = await env.startProgram('import asyncio\nawait asyncio.sleep(3600)')
  for (const { workflowId } of [finished, open]) {
    await expect.poll(async () => (await env.client.workflow.count(`WorkflowId = '${workflowId}'`)).count).toBe(1)
  }

  const unknown = { code: 1, stdout: '', stderr: expect.stringContaining('ptc: there is no run nobody\n') }
  for (const [ptcArguments, expected] of [
    [[], { code: 2, stderr: expect.stringContaining("missing required argument 'id'") }],
    [[id, '--run', '1'], { code: 2, stderr: expect.stringContaining('It must be a run id') }],
    [['nobody'], unknown],
    [['nobody', '--dry-run'], unknown],
    [[open.workflowId], { code: 2, stderr: expect.stringContaining(`run ${open.workflowId} has not ended\n`) }],
    [[id], { code: 2, stderr: expect.stringContaining(`run ${id} ended less than a minute ago\n`) }],
  ] as const) {
    expect(await erase(...ptcArguments), ptcArguments.join(' ')).toMatchObject({ stdout: '', ...expected })
  }

  clock.setOffset(61_000)
  const dryRun = await erase(id, '--dry-run')
  expect(dryRun).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^would erase 1 execution and \\d+ values? \\(\\S+ kB\\) of ${id}\n$`)),
  })
  expect(await contents()).toContain('private 1999')
  expect((await project.run('show', id)).stdout).toContain('print(len(await rows()))')

  expect(await erase(id)).toMatchObject({ code: 0, stdout: dryRun.stdout.replace('would erase', 'erased') })
  expect(await contents()).not.toContain('private')
  // The server deletes the history a moment later.
  const gone = { code: 1, stdout: '', stderr: expect.stringContaining(`ptc: there is no run ${id}\n`) }
  await expect.poll(() => project.run('show', id), { interval: 500 }).toMatchObject(gone)
  expect(await erase(id)).toMatchObject(gone)
  expect((await open.describe()).status.name).toBe('RUNNING')
})
