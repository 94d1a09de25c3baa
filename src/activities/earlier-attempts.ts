import { z } from 'zod'

/** What an attempt of a tool call reports for the next one. The server keeps it with the activity's heartbeats. */
const report = z.object({
  /** What the tool last gave to `heartbeat()`. */
  details: z.unknown().optional(),
  /** Attempts so far on workers that have no tool of this name: they ran nothing. */
  handedBack: z.int().min(0).optional(),
  /** When the first of those in a row was scheduled, by the server's clock. */
  waitingSince: z.number().optional(),
})

export type AttemptReport = Readonly<z.infer<typeof report>>

/** What earlier attempts of a call have reported. */
export function readReport(details: unknown): AttemptReport {
  return report.safeParse(details).data ?? {}
}

/** The number of an attempt among those that may have run the tool, from 1. */
export function attemptOfTool(attempt: number, { handedBack = 0 }: AttemptReport): number {
  return attempt - handedBack
}
