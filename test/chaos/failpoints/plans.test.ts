import { describe, expect, it } from 'vitest'
import type { ScriptedTurn } from '../../../src/testing/index.js'
import { ledgerConfig } from '../../support/environment/ledger-environment.js'
import { call, text, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'

const steps = ['a', 'b', 'c'].map((id, index, ids) => ({ id, task: `Do ${id}.`, dependsOn: ids.slice(0, index) }))

/** Each step charges the item that its id names. */
const script: readonly ScriptedTurn[] = [
  ...steps.flatMap(({ id }): ScriptedTurn[] => [
    { ...turn(call('charge', { name: id })), match: { lastToolResult: `Do step ${id} now` } },
    { ...turn(text(`${id} is done`)), match: { lastToolResult: { pattern: `"done": ?"${id}"` } } },
  ]),
  { ...turn(text('All is done.')), match: { lastToolResult: 'The steps have ended' } },
  turn(call('submit_plan', { steps })),
]

describe('a run with a plan', () => {
  it.each([
    ['turn.stored', 1],
    ['model.replied', 3],
    ['tool.ran', 2],
    ['turn.stored', 6],
    ['model.begins', 8],
  ] as const)('a run with a plan does each step once after kill -9 at %s, hit %i', async (point, hit) => {
    const { env, ledger, deaths } = await startCrashingWorkers([{ point, hit }], { config: ledgerConfig, script })
    const handle = await env.startAgent({ mode: 'plan' })
    const result = await env.agentResult(handle)
    expect(result).toMatchObject({ status: 'answered', answer: 'All is done.', turns: 8, toolCalls: 3 })
    expect(result.plan?.map(({ id, status, result: said }) => `${id} ${status}: ${said}`)).toEqual([
      'a done: a is done',
      'b done: b is done',
      'c done: c is done',
    ])
    expect(ledger.applied.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(deaths()).toBe(1)
    await env.expectCleanEnd(handle)
  })
})
