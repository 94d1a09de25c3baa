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
  const { log } = env.workers.first
  const lines = log.split('\n').filter((line) => line.startsWith('{'))
  const entries = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  const noted = { level: 'INFO', message: 'noted', tool: 'note', agent: 'clerk', tenant: 'acme' }
  expect(entries.find(({ message }) => message === 'noted')).toMatchObject({ ...noted, workflowId: run.workflowId })
  expect(log).not.toContain('ada')
})
