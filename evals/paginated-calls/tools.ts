import { defineTool } from 'durable-ptc'
import { z } from 'zod'

const pages = 23
const pageSize = 20

export const tools = [
  defineTool({
    name: 'list_invoices',
    description: 'Invoices, 20 a page. The first page has no cursor; a page without next_cursor is the last one.',
    input: z.object({ cursor: z.string().optional() }),
    output: z.object({
      invoices: z.array(z.object({ number: z.int(), cents: z.int(), overdue: z.boolean() })),
      next_cursor: z.string().nullable(),
    }),
    allowedCallers: ['direct', 'code_execution'],
    effect: 'read',
    run({ cursor = 'page-1' }) {
      const page = Number(cursor.slice('page-'.length))
      const invoices = Array.from({ length: page === pages ? 7 : pageSize }, (_, index) => {
        const number = (page - 1) * pageSize + index + 1
        return { number, cents: ((number * 31_337) % 50_000) + 100, overdue: (number * 17) % 11 === 3 }
      })
      return { invoices, next_cursor: page < pages ? `page-${page + 1}` : null }
    },
  }),
]
