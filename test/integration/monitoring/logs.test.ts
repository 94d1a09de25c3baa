import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, turn } from '../../support/script.js'

const config = fileURLToPath(new URL('../../fixtures/logging.config.ts', import.meta.url))

it('a failed attempt of a tool is logged once, with the name and the stack of the tool', async () => {
  const env = await TestEnvironment.startProcesses({
    config,
    script: [turn(call('note', { text: 'later' })), answerResult],
    environment: { PTC_LOG_FORMAT: 'json' },
    initialWorkers: [{ roles: ['workflow', 'model', 'tools'] }],
  })
  expect(await env.agentResult(await env.startAgent())).toMatchObject({ answer: 'later' })
  await env.workers.stop()
  const lines = env.workers.first.log.split('\n').filter((line) => line.includes('no ink'))
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'WARN', message: 'note threw', tool: 'note', stack: expect.stringContaining('logging.config') },
  ])
})

it('a log entry of a tool has the agent and the tenant of the run', async () => {
  const env = await TestEnvironment.startProcesses({
    config,
    script: [turn(call('note', { text: 'paid' })), answerResult],
    environment: { PTC_LOG_FORMAT: 'json' },
    initialWorkers: [{ roles: ['workflow', 'model', 'tools'] }],
  })
  const run = await env.startAgent({ agent: 'clerk', context: { tenant: 'acme', user: 'ada-lovelace' } })
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
  expect(worker.log).not.toContain('ada-lovelace')
})
