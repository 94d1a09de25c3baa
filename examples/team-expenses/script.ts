import { readFileSync } from 'node:fs'
import type { Script } from 'durable-ptc/testing'

/** The program of the scripted model: the one that `ptc exec` runs, without comments. */
const code = readFileSync(new URL('program.py', import.meta.url), 'utf8')
  .replace(/^#.*\n/gm, '')
  .trim()

/**
 * Turns of the scripted model, used without an API key. The last turn quotes the output of the code, so a wrong result
 * gives a wrong answer.
 */
export const script = [
  {
    reply: {
      content: [
        {
          type: 'text',
          text: 'I will fetch the expenses of all engineers in parallel, and look up a budget only for those above 5,000 EUR.',
        },
        { type: 'tool_use', name: 'execute_code', input: { code } },
      ],
    },
  },
  {
    reply: {
      content: [
        {
          type: 'text',
          text: 'These engineers exceeded their travel budget in Q3 (approved travel and lodging, exceptions taken into account):\n\n{{last_tool_result}}',
        },
      ],
    },
  },
] satisfies Script
