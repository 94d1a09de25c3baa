import type { AgentResult, ProgramResult } from '../../common/runs.js'
import type { RunTree } from '../history/index.js'
import type { PtcError } from '../../common/errors.js'
import { withCaptured } from './captured.js'
import { exitCodes } from './exit-code.js'
import type { Followed } from './follow.js'
import { runReport } from './run-report.js'
import { print, printRaw, say } from './terminal.js'

/** Prints what came of a run, and gives the exit code. */
export function showEnding({ tree, result, error }: Followed<AgentResult | ProgramResult>, json: boolean): number {
  if (json) print(JSON.stringify(runReport(tree, error)))
  if (error !== undefined) {
    say(`ptc: ${error.message}`)
    if (error.hint !== undefined) say(error.hint)
    return endCode(error)
  }
  if (tree.type === 'other' || result === undefined) return showOther(tree, json)
  if ('outcome' in result) return showProgram({ outcome: withCaptured(result.outcome, tree) }, json)
  return showAnswer(result, json)
}

/** The run's own failure is code 1, whatever failed in it: 2 and 3 are about this command. */
function endCode({ code }: PtcError): number {
  if (code === 'TEMPORAL_UNREACHABLE') return exitCodes.unreachable
  return code === 'RUN_CANCELLED' ? exitCodes.interrupted : exitCodes.failed
}

/** A workflow that is not ours can be watched too. */
function showOther(tree: RunTree, json: boolean): number {
  if (!json && tree.type === 'other') print(JSON.stringify(tree.result ?? null))
  return tree.status === 'completed' ? exitCodes.ok : exitCodes.failed
}

/** Prints what a program printed, and what ended it when that was no success; gives the exit code. */
export function showProgram({ outcome }: Pick<ProgramResult, 'outcome'>, json: boolean): number {
  // In a file or a pipe exactly what the program printed: it may be data for the next program.
  if (!json) printRaw(outcome.output)
  if (outcome.status === 'ok') return exitCodes.ok
  say(outcome.error.trimEnd())
  if (outcome.status === 'stopped') return exitCodes.interrupted
  if (outcome.status !== 'code_error') say(`ptc: the program ended: ${outcome.status.replaceAll('_', ' ')}`)
  return exitCodes.failed
}

const notAnswered = {
  turn_limit: 'the run used up its turns; the answer may be incomplete (limits.turns in the configuration)',
  refused: 'the model declined to answer',
  truncated: 'the answer was cut at the token limit (model.maxTokens in the configuration)',
  context_full: "the conversation became larger than the model's context window",
  no_answer: 'the model gave no answer',
} as const

function showAnswer({ status, answer }: AgentResult, json: boolean): number {
  if (!json && answer !== '') print(answer)
  if (status === 'answered') return exitCodes.ok
  say(`ptc: ${notAnswered[status]}`)
  return exitCodes.failed
}
