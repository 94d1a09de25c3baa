import { callDigest } from '../../../common/calls/call-identity.js'
import type { DataLabels } from '../../../common/calls/data-flow.js'
import type { CellOutcome } from '../../../common/calls/outcomes.js'
import type { ToolConfig } from '../../../common/calls/tool-config.js'
import { toTemporalSummary, truncateMiddle } from '../../../common/text/text.js'
import { approval } from '../people/approval.js'
import { reportEnd } from '../remote/report-call.js'
import { type AdmittedCall, RunCall } from '../run-call.js'
import type { RunCalls } from '../run-calls.js'

/** For people, an answer is a call of this tool. No model and no code can call it. */
const answerTool: ToolConfig = {
  name: 'answer',
  allowedCallers: [],
  effect: 'read',
  timeoutMs: 0,
  attempts: 1,
  inputDigest: '',
}

/** A person decides on a text of this length at most: a query returns it. */
const shownCharacters = 100_000

/**
 * Decides whether what a run returns may leave it, as the rules on data say. Waits for a person where a rule asks.
 *
 * @param text the whole answer, or the whole output of code
 * @param labels of the text
 * @returns why it may not; undefined when it may
 * @throws CancelledFailure
 */
export async function holdAnswer(calls: RunCalls, text: string, labels: DataLabels): Promise<string | undefined> {
  const { run, dataFlow } = calls
  const decision = text === '' ? { action: 'allow' as const } : dataFlow.decide('answer', labels)
  if (decision.action === 'allow') return undefined
  const { reason } = decision
  const args = { answer: truncateMiddle(text, shownCharacters) }
  const summary = toTemporalSummary(reason)
  // Calls are numbered from 1.
  const position = { turn: run.counts.turns, cell: run.counts.cells, index: 0 }
  const digest = callDigest(answerTool.name, args)
  const described = { tool: answerTool.name, arguments: args, index: 0, digest, summary, refused: null }
  const call = new RunCall(calls, { call: described, caller: 'direct', position, tool: answerTool }) as AdmittedCall
  if (decision.action === 'deny') {
    await reportEnd(call, { type: 'call.refused', status: 'denied', digest, reason })
    return `a rule of the configuration denies ${reason}`
  }
  call.requireApproval(summary)
  try {
    const outcome = await approval(call, () => Promise.resolve({ status: 'ok', value: null }))
    return outcome.status === 'ok' ? undefined : outcome.message
  } finally {
    call.end()
    calls.forget(call)
  }
}

/** As {@link holdAnswer}, for what code returns: an outcome that may not leave the run has the reason for its texts. */
export async function holdOutcome(calls: RunCalls, outcome: CellOutcome): Promise<CellOutcome> {
  const { ofSession } = calls.dataFlow
  if (Object.keys(ofSession).length === 0) return outcome
  const error = outcome.status === 'ok' ? '' : outcome.error
  const reason = await holdAnswer(calls, `${outcome.output}${error}`, ofSession)
  if (reason === undefined) return outcome
  const withheld = `[withheld] ${reason}`
  const { stderr: _stderr, exitCode: _exitCode, ...rest } = outcome // they tell of the texts
  return rest.status === 'ok' ? { ...rest, output: withheld } : { ...rest, output: withheld, error: withheld }
}
