import { defineTool } from 'durable-ptc'
import { z } from 'zod'

export const tools = [
  defineTool({
    name: 'write_source_file',
    description: 'Writes a file of the package. The last content of a path counts.',
    input: z.object({ path: z.string().regex(/^shop\/[a-z_]+\.py$/), content: z.string().max(20_000) }),
    output: z.object({ path: z.string(), lines: z.int() }),
    allowedCallers: ['direct', 'code_execution'],
    effect: 'idempotent',
    run: ({ path, content }) => ({ path, lines: content.split('\n').length }),
  }),
]
