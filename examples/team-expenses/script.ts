import { readFileSync } from 'node:fs'
import type { Script } from 'durable-ptc/testing'

/** The program the scripted model writes: the same one that `ptc exec` runs, without its comments. */
const code = readFileSync(new URL('program.py', import.meta.url), 'utf8')
  .replace(/^#.*\n/gm, '')
  .trim()

/**
 * What the scripted model says when there is no API key: its turns as data, for the scripted Messages API server. The last one
 * quotes what the code really printed, so a wrong result gives a wrong answer.
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
