import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { ToolConfig } from '../../common/runs/tool-config.js'
import type { RunCall } from './run-call.js'

/** A call of a tool that exists. */
export type AdmittedCall = RunCall & { readonly tool: ToolConfig }

/** The rest of the pipeline. */
export type Next = (call: AdmittedCall) => Promise<CallOutcome>

/**
 * One stage of a call: does something before and after the rest of the pipeline, or returns the outcome in its place.
 *
 * @throws CancelledFailure when the run or the scope of the call is cancelled
 */
export type Stage = (call: AdmittedCall, next: Next) => Promise<CallOutcome>
