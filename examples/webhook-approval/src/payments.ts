import type { PtcClient } from 'durable-ptc/client'
import { PtcError } from 'durable-ptc'
import { z } from 'zod'

/** What the shop sends. `delivery` is the same when it sends a webhook again. */
export const paymentsWebhook = z.object({
  delivery: z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
  invoices: z.record(z.string(), z.number()),
})

/** A model would write such a program. */
const source = `
import asyncio
decisions = await asyncio.gather(
    *(approve_payment(invoice=name, euros=euros) for name, euros in input_data.items())
)
for name, decision in zip(input_data, decisions):
    print(name, "is approved" if decision["approved"] else "is rejected", "by", decision["by"])
`

/** The id of the run that a delivery starts. */
export function runIdOf(delivery: string): string {
  return `payments-${delivery}`
}

/** Starts a run. A delivery that arrives again starts none: Temporal refuses its id. */
export async function startPayments(ptc: PtcClient, webhook: z.infer<typeof paymentsWebhook>): Promise<void> {
  const { delivery, invoices } = webhook
  const options = { workflowId: runIdOf(delivery), workflowIdReusePolicy: 'REJECT_DUPLICATE' } as const
  try {
    await ptc.startProgram({ source, input: invoices }, options)
  } catch (error) {
    if (!(PtcError.isInstance(error) && error.code === 'RUN_EXISTS')) throw error
  }
}
