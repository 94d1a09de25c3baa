import { z } from 'zod'
import { truncateEnd } from '../../../common/text/text.js'

/** The part of the heartbeats of a tool's activity for people: `src/activities/tool-call/attempt-report.ts`. */
const report = z.object({ milestone: z.string().optional(), details: z.unknown().optional() })

/** The heartbeats of a running step: `src/activities/session/execute-step.ts`. */
const stepReport = z.object({ printed: z.string() })

const maxCharacters = 200

/** Returns the end of the output of running code since the start of its step. */
export function heartbeatOutput(heartbeatDetails: unknown): string | undefined {
  return stepReport.safeParse(heartbeatDetails).data?.printed
}

/** Returns the reported progress of a tool: its last milestone, else the details of its last heartbeat. */
export function heartbeatProgress(heartbeatDetails: unknown): string | undefined {
  const { milestone, details } = report.safeParse(heartbeatDetails).data ?? {}
  if (milestone !== undefined) return milestone
  if (details === undefined || details === null) return undefined
  return truncateEnd(typeof details === 'string' ? details : (JSON.stringify(details) ?? ''), maxCharacters)
}
