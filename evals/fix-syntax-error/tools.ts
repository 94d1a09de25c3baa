import { defineTool } from 'durable-ptc'
import { z } from 'zod'

export const tools = [
  defineTool({
    name: 'submit_report_module',
    description: 'Submits the corrected source of report.py. The last submission counts.',
    input: z.object({ source: z.string().max(20_000) }),
    output: z.object({ characters: z.int() }),
    allowedCallers: ['direct', 'code_execution'],
    effect: 'idempotent',
    run: ({ source }) => ({ characters: source.length }),
  }),
]
