/*
 * Workflow `call`: one call of a tool, and no model or code.
 *
 * Owns: the life of such a run: read the configuration, make the call, return its outcome.
 * Boundary: the call is a direct call, with the stages of `calls/pipeline.ts`. Every outcome of the call is a result;
 * only the engine can fail the run.
 */

import { callDigest } from '../common/calls/call-identity.js'
import type { CallInput, CallResult } from '../common/run/runs.js'
import { jsonToText, toTemporalSummary } from '../common/text/text.js'
import { executeCall } from './calls/pipeline.js'
import { RunCall } from './calls/run-call.js'
import { recordOutcome } from './run/memo.js'
import { publishEnd } from './run/search-attributes.js'
import { startRun } from './start-run.js'
import { failWorkflowOnError } from './temporal/failures.js'

/** The call has the place of the first direct call of a program. */
const position = { turn: 0, cell: 0, index: 1 } as const

export async function call({ tool, arguments: args, context }: CallInput): Promise<CallResult> {
  return failWorkflowOnError(async () => {
    const options = { tools: [tool], ...(context && { context }) }
    const calls = await startRun({ kind: 'call', options })
    const { run } = calls
    const requested = {
      tool,
      arguments: args,
      index: position.index,
      digest: callDigest(tool, args),
      summary: run.config.isRedacted ? tool : toTemporalSummary(`${tool} ${jsonToText(args)}`),
      refused: null,
    }
    const outcome = await publishEnd(
      run,
      () => executeCall(new RunCall(calls, { call: requested, caller: 'direct', position })),
      ({ status }) => status,
    )
    recordOutcome(outcome.status)
    return { outcome }
  })
}
