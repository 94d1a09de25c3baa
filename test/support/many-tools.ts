import { z } from 'zod'
import { defineTool, type Tool } from '../../src/index.js'
import type { ToolDocumentation } from '../../src/tools/documentation/document-tools.js'
import { createRegistry } from '../../src/tools/registry.js'

const subjects = [
  'customer',
  'order',
  'invoice',
  'payment',
  'shipment',
  'product',
  'employee',
  'contract',
  'ticket',
  'refund',
]
const verbs = ['get', 'list', 'search', 'create', 'update', 'delete', 'export', 'count', 'approve', 'archive']
const regions = ['domestic', 'foreign']

/** The documentation of 200 tools. */
export function documentManyTools(): readonly ToolDocumentation[] {
  return createRegistry(manyTools() as readonly Tool[]).documentation()
}

/** 200 tools similar to those of a service: three to five parameters, and results of objects. */
function manyTools(): readonly Pick<Tool, 'name'>[] {
  return subjects.flatMap((subject) =>
    verbs.flatMap((verb) =>
      regions.map((region) =>
        defineTool({
          name: `${verb}_${region}_${subject}`,
          description:
            `${verb[0]?.toUpperCase()}${verb.slice(1)}s ${region} records of type ${subject}. Fails when the caller has no ` +
            'permission for the department, and returns an empty list when nothing matches.',
          input: z.object({
            [`${subject}_id`]: z
              .string()
              .describe(`Identifier of the ${subject}, such as ${subject.toUpperCase()}-0042`),
            department: z.enum(['sales', 'support', 'finance']).describe('Who is responsible'),
            since: z.string().optional().describe('Only records after this day, as YYYY-MM-DD'),
            limit: z.int().min(1).max(500).default(50).describe('Maximum number of records'),
          }),
          output: z.array(
            z.object({
              [`${subject}_id`]: z.string(),
              status: z.enum(['open', 'closed', 'cancelled']),
              amount: z.number().describe('EUR'),
              note: z.string().nullable(),
            }),
          ),
          effect: verb === 'get' || verb === 'list' || verb === 'search' || verb === 'count' ? 'read' : 'idempotent',
          run: () => [],
        }),
      ),
    ),
  )
}
