import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, turn } from '../../support/script.js'

const config = fileURLToPath(new URL('../../fixtures/logging.config.ts', import.meta.url))

it('what a tool logs has the agent and the tenant of the run', async () => {
  const env = await TestEnvironment.startProcesses({
    config,
    script: [turn(call('note', { text: 'paid' })), answerResult],
    environment: { PTC_LOG_FORMAT: 'json' },
    initialWorkers: [{ roles: ['workflow', 'model', 'tools'] }],
  })
  const run = await env.startAgent({ agent: 'clerk', context: { tenant: 'acme', user: 'ada' } })
  expect(await env.agentResult(run)).toMatchObject({ answer: 'paid' })
  const worker = env.workers.first
  const entryOf = (wanted: string) =>
    worker.log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      .find(({ message }) => message === wanted)
  const noted = { level: 'INFO', message: 'noted', tool: 'note', agent: 'clerk', tenant: 'acme' }
  // The runtime of the SDK writes log entries a moment later.
  await expect.poll(() => entryOf('noted')).toMatchObject({ ...noted, workflowId: run.workflowId })
  expect(worker.log).not.toContain('ada')
})
