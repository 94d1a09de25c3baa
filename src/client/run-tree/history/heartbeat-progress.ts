import { z } from 'zod'
import { truncateEnd } from '../../../common/text/text.js'

/** What the heartbeats of a tool's activity have for people: `src/activities/tool-call/attempt-report.ts`. */
const report = z.object({ milestone: z.string().optional(), details: z.unknown().optional() })

/** What the heartbeats of a running step have: `src/activities/session/execute-step.ts`. */
const stepReport = z.object({ printed: z.string() })

const maxCharacters = 200

/** The end of what running code has printed since its step began. */
export function heartbeatOutput(heartbeatDetails: unknown): string | undefined {
  return stepReport.safeParse(heartbeatDetails).data?.printed
}

/** What a tool has said of its progress: its last milestone, else the details of its last heartbeat. */
export function heartbeatProgress(heartbeatDetails: unknown): string | undefined {
  const { milestone, details } = report.safeParse(heartbeatDetails).data ?? {}
  if (milestone !== undefined) return milestone
  if (details === undefined || details === null) return undefined
  return truncateEnd(typeof details === 'string' ? details : (JSON.stringify(details) ?? ''), maxCharacters)
}
