import { isExternal } from '../../common/json/external-value.js'
import type { JsonValue } from '../../common/json/json.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { jsonToText, truncateMiddle } from '../../common/text/text.js'
import { executeCall } from '../calls/pipeline.js'
import { RunCall } from '../calls/run-call.js'
import type { RunCalls } from '../calls/run-calls.js'
import { showProgress } from '../run/progress.js'
import { loadValue } from '../temporal/activities.js'

/**
 * Calls the tool that checks whether the work is done.
 *
 * @returns for the model, why the work is not done; undefined when it is done
 */
export async function checkDone(calls: RunCalls, call: DescribedCall): Promise<string | undefined> {
  const { run } = calls
  const { limits, timeouts } = run.config
  showProgress(run, { type: 'direct_calls' })
  const position = { turn: run.counts.turns, cell: 0, index: call.index }
  const outcome = await executeCall(new RunCall(calls, { call, caller: 'direct', position }))
  if (outcome.status !== 'ok') {
    return truncateMiddle(
      `Whether the work is done could not be checked: [${outcome.status}] ${outcome.message}`,
      limits.outputCharacters,
    )
  }
  const { value } = outcome
  const reason = reasonOf(isExternal(value) ? await loadValue(value, timeouts) : value)
  return reason === undefined ? undefined : truncateMiddle(`The work is not done: ${reason}`, limits.outputCharacters)
}

/** Returns why the work is not done; undefined when it is done. The output schema of the tool has checked the value. */
function reasonOf(value: JsonValue): string | undefined {
  const { done, reason = null } = value as { readonly done?: JsonValue; readonly reason?: JsonValue }
  if (done === true) return undefined
  return reason === null ? 'the check gives no reason.' : jsonToText(reason)
}
