import { z } from 'zod'
import { defineTool } from '../../../src/index.js'

/** A tool whose calls a person approves. */
export const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ euros: z.number().max(100) }),
  output: z.string(),
  effect: 'once',
  approval: 'always',
  run: ({ euros }) => `paid ${euros}`,
})
