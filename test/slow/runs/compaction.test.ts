import { expect, it } from 'vitest'
import type { ScriptedTurn } from '../../../src/testing/index.js'
import { compactionConfig, compactionScript } from '../../support/compaction-steps.js'
import { completedReplies } from '../../support/environment/completed-replies.js'
import { expectReplays } from '../../support/environment/histories.js'
import { requestMessages, TestEnvironment } from '../../support/environment/test-environment.js'
import { pollSignal } from '../../support/poll-options.js'
import { text, turn } from '../../support/script.js'

const isSummary = (body: unknown): boolean => JSON.stringify(requestMessages(body)[0] ?? '').includes('<transcript>')

it('kill -9 of the worker while it waits for a summary repeats only the compaction', async () => {
  const notes: ScriptedTurn = { ...turn(text('Notes.')), faults: [{ type: 'delay', attempt: 1, ms: 60_000 }] }
  const env = await TestEnvironment.startProcesses({
    config: compactionConfig,
    script: compactionScript(notes),
  })
  const handle = await env.startAgent({ question: 'Take 15 steps.' })
  await env.api.waitForRequest(({ body }) => isSummary(body), pollSignal())
  await env.workers.replace()
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'done', turns: 16, toolCalls: 15 })
  const summaries = env.api.requests.filter(({ body }) => isSummary(body))
  const compactions = (await env.chainActivities(handle)).filter(({ type }) => type === 'model.compact')
  expect(summaries.length).toBeGreaterThan(1)
  // 16 turns, and one paid reply for each summary except the lost one.
  expect(completedReplies(env.api)).toBe(16 + summaries.length - 1)
  expect(compactions.length).toBe(summaries.length - 1)
  await expectReplays(env.client, handle)
})
