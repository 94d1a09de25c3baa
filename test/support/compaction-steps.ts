import { fileURLToPath } from 'node:url'
import type { ScriptedTurn } from '../../src/testing/index.js'
import { call, text, turn } from './script.js'

/** Configuration of workers with a small context window, and a tool whose results fill it. */
export const compactionConfig = fileURLToPath(new URL('../fixtures/compaction.config.ts', import.meta.url))

/** Calls the tool with the numbers from 1 to 15, then answers. */
const turns: readonly ScriptedTurn[] = [
  { ...turn(text('done')), match: { lastToolResult: 'step 15 ' } },
  ...Array.from({ length: 14 }, (_, index): ScriptedTurn => {
    return { ...turn(call('step', { number: index + 2 })), match: { lastToolResult: `step ${index + 1} ` } }
  }),
  turn(call('step', { number: 1 })),
]

/** Fifteen steps, and the replies to requests for a summary. */
export const compactionScript = (summary: ScriptedTurn) => ({
  conversations: [{ match: { firstUserText: '<transcript>' }, turns: [summary] }, { turns }],
})
