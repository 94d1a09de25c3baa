import type { CallOutcome } from '../../../common/calls/outcomes.js'
import { codeCallerOf } from '../../../common/agent/hosted-code.js'
import { defined } from '../../../common/defined.js'
import { refOf } from '../../../common/json/external-value.js'
import type { PendingBlock, ToolUseBlock } from '../../../common/agent/messages.js'
import type { DescribedCall } from '../../../common/session/steps.js'
import { denied } from '../../calls/admission.js'
import { executeCall } from '../../calls/pipeline.js'
import { RunCall } from '../../calls/run-call.js'
import type { RunCalls } from '../../calls/run-calls.js'
import type { HostedCallPosition } from './hosted-code.js'
import { outcomeText, toolResult } from '../tool-result.js'

/**
 * Maximum bytes of a result for hosted code. Every later request contains it again, and a request has at most 32 MB.
 */
const maxResultBytes = 1024 * 1024

interface HostedCall {
  readonly use: ToolUseBlock
  readonly call: DescribedCall | undefined
  readonly position: HostedCallPosition | undefined
  readonly record: (block: PendingBlock) => PendingBlock
}

/**
 * Executes a call of hosted code. The code gets the text of the result. A result over the limit is refused, because
 * half a result would not be valid JSON.
 */
export async function executeHostedCall(
  calls: RunCalls,
  { use, call, position, record }: HostedCall,
): Promise<PendingBlock> {
  const finish = (outcome: CallOutcome): PendingBlock =>
    record(toolResult(use, outcomeText(outcome, maxResultBytes), outcome.status !== 'ok'))
  if (!call) return finish(denied(`there is no tool named ${use.name}`))
  if (!position) return finish(denied('the code that made this call is unknown'))
  const { cell, index } = position
  const { config, counts } = calls.run
  const { callsPerCell } = config.limits
  if (index > callsPerCell) return finish(denied(`more than ${callsPerCell} tool calls in one cell`))
  let result: PendingBlock | undefined
  const { turns: turn } = counts
  const toolUseId = codeCallerOf(use)
  const where = { turn, cell, index, ...defined({ toolUseId }) }
  const onOutcome = (outcome: CallOutcome) => (result = finish(limitResult(outcome)))
  const requested = { call: { ...call, index }, caller: 'code_execution', position: where } as const
  const outcome = await executeCall(new RunCall(calls, requested), onOutcome)
  return result ?? finish(outcome)
}

function limitResult(outcome: CallOutcome): CallOutcome {
  const bytes = outcome.status === 'ok' ? (refOf(outcome.value)?.bytes ?? 0) : 0
  if (bytes <= maxResultBytes) return outcome
  const message = `the result has ${bytes} bytes; code at the API gets at most ${maxResultBytes}. Ask for less at a time.`
  return { status: 'tool_error', message }
}
