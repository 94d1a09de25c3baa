import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { ScriptedTurn } from '../../../src/testing/index.js'
import { expectReplays } from '../../support/environment/histories.js'
import { call, text, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'

const config = fileURLToPath(new URL('../../fixtures/compaction.config.ts', import.meta.url))

/** Calls the tool with the numbers from 1 to 15, then answers. */
const turns: readonly ScriptedTurn[] = [
  { ...turn(text('done')), match: { lastToolResult: 'step 15 ' } },
  ...Array.from({ length: 14 }, (_, index): ScriptedTurn => {
    return { ...turn(call('step', { number: index + 2 })), match: { lastToolResult: `step ${index + 1} ` } }
  }),
  turn(call('step', { number: 1 })),
]

const script = {
  conversations: [{ match: { firstUserText: '<transcript>' }, turns: [turn(text('Notes.'))] }, { turns }],
}

describe('a run whose messages are compacted', () => {
  it.each([
    ['messages.summarized', 1],
    ['messages.compacted', 1],
    ['model.begins', 12],
    ['turn.stored', 12],
  ] as const)('answers after kill -9 at %s, hit %i', async (point, hit) => {
    const { env, deaths } = await startCrashingWorkers([{ point, hit }], { config, script })
    const handle = await env.startAgent({ question: 'Take 15 steps.' })
    const result = await env.agentResult(handle)
    expect(result).toMatchObject({ status: 'answered', answer: 'done', turns: 16, toolCalls: 15 })
    expect(deaths()).toBe(1)
    await expectReplays(env.client, handle)
  })
})
