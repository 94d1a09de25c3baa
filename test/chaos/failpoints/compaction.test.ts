import { describe, expect, it } from 'vitest'
import { compactionConfig, compactionScript } from '../../support/compaction-steps.js'
import { expectReplays } from '../../support/environment/histories.js'
import { text, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'

const workers = { config: compactionConfig, script: compactionScript(turn(text('Notes.'))) }

describe('a run whose messages are compacted', () => {
  it.each([
    ['messages.summarized', 1],
    ['messages.compacted', 1],
    ['model.begins', 12],
    ['turn.stored', 12],
  ] as const)('a run whose messages are compacted answers after kill -9 at %s, hit %i', async (point, hit) => {
    const { env, deaths } = await startCrashingWorkers([{ point, hit }], workers)
    const handle = await env.startAgent({ question: 'Take 15 steps.' })
    const result = await env.agentResult(handle)
    expect(result).toMatchObject({ status: 'answered', answer: 'done', turns: 16, toolCalls: 15 })
    expect(deaths()).toBe(1)
    await expectReplays(env.client, handle)
  })
})
