import type { AgentResult, ProgramResult } from '../../common/run/runs.js'
import type { RunTree } from '../../client/run-tree/index.js'
import type { PtcError } from '../../common/errors.js'
import { printArtifacts } from '../files/print-artifacts.js'
import { compensatedCalls, describeCompensation } from './compensated-calls.js'
import { exitCodes } from '../process/exit-code.js'
import type { RunEnding } from './follow-run.js'
import { runReport, withFullOutput } from './run-report.js'
import { print, printOutput, printProse, printError, printStatus } from '../process/stdio.js'

/** Prints the result or error of a run; returns the exit code. */
export function printRunEnding({ tree, result, error }: RunEnding<AgentResult | ProgramResult>, json: boolean): number {
  if (json) print(JSON.stringify(runReport(tree, error)))
  const exitCode = printEnding({ tree, result, error }, json)
  if (!json) printArtifacts(tree.files, tree.workflowId)
  return exitCode
}

function printEnding({ tree, result, error }: RunEnding<AgentResult | ProgramResult>, json: boolean): number {
  const compensation = compensatedCalls(tree)
  if (compensation) printStatus(`ptc: ${describeCompensation(compensation, tree.workflowId)}`)
  if (error !== undefined) {
    printError(error)
    return exitCodeOfRunError(error)
  }
  if (tree.type === 'other' || result === undefined) return printOtherResult(tree, json)
  if ('outcome' in result) return printProgramOutcome({ outcome: withFullOutput(result.outcome, tree) }, json)
  return printAnswer(result, json)
}

/** Every failed run has exit code 1. The codes 2 and 3 are for errors of the command. */
function exitCodeOfRunError({ code }: PtcError): number {
  if (code === 'TEMPORAL_UNREACHABLE') return exitCodes.unreachable
  return code === 'RUN_CANCELLED' ? exitCodes.interrupted : exitCodes.failed
}

/** Prints the result of a workflow of another library, which can be watched too. */
function printOtherResult(tree: RunTree, json: boolean): number {
  if (!json && tree.type === 'other') print(JSON.stringify(tree.result ?? null))
  return tree.status === 'completed' ? exitCodes.ok : exitCodes.failed
}

/** Prints the output of a program, and its error; returns the exit code. */
export function printProgramOutcome({ outcome }: Pick<ProgramResult, 'outcome'>, json: boolean): number {
  // A file or pipe gets exactly the output of the program, which may be data for the next program.
  if (!json) printOutput(outcome.output, outcome.stderr)
  if (outcome.status === 'ok') return exitCodes.ok
  printStatus(outcome.error.trimEnd())
  if (outcome.status === 'stopped') return exitCodes.interrupted
  if (outcome.status !== 'code_error') printStatus(`ptc: the program ended: ${outcome.status.replaceAll('_', ' ')}`)
  return exitCodes.failed
}

function printAnswer({ status, answer }: AgentResult, json: boolean): number {
  if (!json && answer !== '') printProse(answer)
  if (status === 'answered') return exitCodes.ok
  printStatus(`ptc: ${incompleteStatusMessages[status]}`)
  return status === 'gave_up' ? exitCodes.gaveUp : exitCodes.failed
}

/** For every status of an answer except `answered`. */
export const incompleteStatusMessages = {
  turn_limit: 'the run used up its turns; the answer may be incomplete (limits.turns in the configuration)',
  budget_spent: 'the budget of the run is spent (budget in the configuration, or of the run)',
  refused: 'the model declined to answer',
  truncated: 'the answer was cut at the token limit (model.maxTokens in the configuration)',
  context_full: "the conversation became larger than the model's context window",
  no_answer: 'the model gave no answer',
  invalid_answer: 'no answer of the model fitted the output schema',
  gave_up: 'the model gave up',
  withheld: 'a rule on data, or a person, keeps the answer back (dataFlow in the configuration)',
  invalid_plan: 'the model submitted no valid plan',
  tool_error: 'the code or a call of the only turn failed',
} as const
