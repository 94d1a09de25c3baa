import { z } from 'zod'

/** Heartbeat details of a tool call's attempt. The next attempt gets them from the server. */
const reportSchema = z.object({
  /** The last details that the tool passed to `heartbeat()`. */
  details: z.unknown().optional(),
  /** Attempts on workers without a tool of this name. They ran nothing. */
  unregisteredAttempts: z.int().min(0).optional(),
  /** When the first of the current sequence of those attempts was scheduled, by the server's clock. */
  unregisteredSince: z.number().optional(),
})

export type AttemptReport = Readonly<z.infer<typeof reportSchema>>

/** The report in the heartbeat details of earlier attempts. */
export function readAttemptReport(details: unknown): AttemptReport {
  return reportSchema.safeParse(details).data ?? {}
}

/** The number of an attempt among those that may have run the tool, from 1. */
export function toolAttempt(attempt: number, { unregisteredAttempts = 0 }: AttemptReport): number {
  return attempt - unregisteredAttempts
}
