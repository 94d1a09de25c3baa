import { z } from 'zod'
import type { ToolCallInput } from '../../common/calls/calls.js'
import { refOf } from '../../common/json/external-value.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import { formatDuration } from '../../common/text/duration.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { summarizeCall } from '../../tools/calls/summary.js'

/** Heartbeat details of a tool call's attempt. The next attempt gets them from the server. */
const reportSchema = z.object({
  /** The last details that the tool passed to `heartbeat()`. */
  details: z.unknown().optional(),
  /** The last milestone of the tool, redacted. */
  milestone: z.string().optional(),
  /** Number of attempts on workers without a tool of this name. These attempts ran nothing. */
  unregisteredAttempts: z.int().min(0).optional(),
  /** Time at which the first attempt of the current sequence of such attempts was scheduled, by the server's clock. */
  unregisteredSince: z.number().optional(),
})

export type AttemptReport = Readonly<z.infer<typeof reportSchema>>

/**
 * Returns the heartbeat details of a call. The Temporal UI shows them next to its own number of attempts, which also
 * counts lost workers and workers without the tool, and its own timeout, which includes loading and storing values.
 */
export function describeAttempt(
  call: Pick<ToolCallInput, 'tool' | 'arguments'>,
  attempt: number,
  { attempts, timeoutMs }: Pick<ToolConfig, 'attempts' | 'timeoutMs'>,
  registry: Pick<ToolRegistry, 'redact'>,
) {
  return {
    call: refOf(call.arguments) ? call.tool : summarizeCall(registry, call),
    attempt: `${attempt} of ${attempts}`,
    timeout: formatDuration(timeoutMs),
  }
}

/** Reads the report in the heartbeat details of earlier attempts. */
export function readAttemptReport(details: unknown): AttemptReport {
  return reportSchema.safeParse(details).data ?? {}
}

/** Returns the number of an attempt, from 1. Only attempts that may have run the tool count. */
export function toolAttempt(attempt: number, { unregisteredAttempts = 0 }: AttemptReport): number {
  return attempt - unregisteredAttempts
}
