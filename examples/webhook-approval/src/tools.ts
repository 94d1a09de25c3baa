import { defineTool } from 'durable-ptc'
import { z } from 'zod'

const deskUrl = process.env['DESK_URL'] ?? 'http://127.0.0.1:8091'

/** A person decides, today or in two days. The desk sends the decision to `webhook.ts`. */
export const approvePayment = defineTool({
  name: 'approve_payment',
  description: 'Asks a person to approve a payment. Takes up to three days.',
  input: z.object({ invoice: z.string(), euros: z.number() }),
  output: z.object({ approved: z.boolean(), by: z.string() }),
  effect: 'idempotent',
  deferred: { expires: '3d' },
  summary: ({ invoice, euros }) => `approve ${euros} EUR for ${invoice}`,
  async run({ invoice, euros }, { completionToken, idempotencyKey, signal }) {
    // The desk recognizes a repeated request by its key.
    const body = JSON.stringify({ key: idempotencyKey, token: completionToken, invoice, euros })
    const response = await fetch(deskUrl, { method: 'POST', body, signal })
    if (!response.ok) throw new Error(`the desk answered with status ${response.status}`)
  },
})
