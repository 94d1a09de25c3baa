import { expect, it } from 'vitest'
import { queryRefusedMessage } from '../../../src/common/names.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { freeAddress } from '../../support/monitoring/free-address.js'
import { scrape, total } from '../../support/monitoring/scrape.js'
import { noModel } from '../../support/script.js'
import { startNondeterministicRuns } from '../../support/temporal/nondeterministic-runs.js'

it('a worker reports for how long a task of a role without a worker has waited', async () => {
  const { env } = await startWithLedger(noModel, { initialWorkers: [{ roles: ['workflow'] }] })
  const handle = await env.startProgram('print(1)')
  await expect.poll(() => scheduledCount(handle, 'session.open')).toBe(1)
  // The worker takes its first sample at its start.
  const address = await freeAddress()
  await env.workers.start({ roles: ['workflow'], environment: { PTC_METRICS_ADDRESS: address } })
  // The sandbox role has a task queue for each backend.
  const ageOf = async (role: string) =>
    total(await scrape(address), 'ptc_task_queue_backlog_age_milliseconds', { role })
  await expect.poll(() => ageOf('sandbox')).toBeGreaterThan(0)
  for (const role of ['workflow', 'model', 'tools']) expect(await ageOf(role)).toBe(0)
})

it('a worker reports workflow tasks that fail, by workflow and reason', async () => {
  const address = await freeAddress()
  const environment = { PTC_METRICS_ADDRESS: address }
  const { env } = await startWithLedger(noModel, { initialWorkers: [], environment, backend: 'wasm' })
  await startNondeterministicRuns(env, [0])
  const labels = { task_queue: env.taskQueue, workflow_type: 'program', failure_reason: 'NonDeterminismError' }
  const failed = async () => total(await scrape(address), 'temporal_workflow_task_execution_failed', labels)
  await expect.poll(failed).toBeGreaterThan(0)
})

// Therefore the alert leaves this reason out.
it('Temporal counts a refused query as a failed workflow task with reason WorkflowError', async () => {
  const address = await freeAddress()
  const environment = { PTC_METRICS_ADDRESS: address }
  const { env } = await startWithLedger(noModel, { initialWorkers: [{ roles: ['workflow'] }] })
  const handle = await env.startProgram('print(1)')
  await expect.poll(() => scheduledCount(handle, 'session.open')).toBe(1)
  await env.workers.stop()
  // A query of a run that was terminated with events after its last workflow task is always refused.
  await handle.signal('wake')
  await handle.terminate()
  await env.workers.start({ roles: ['workflow'], environment })
  await expect(handle.query('__stack_trace')).rejects.toThrow(queryRefusedMessage)
  const failed = async (labels = {}) => total(await scrape(address), 'temporal_workflow_task_execution_failed', labels)
  await expect.poll(() => failed({ failure_reason: 'WorkflowError' })).toBe(1)
  expect(await failed()).toBe(1)
})
