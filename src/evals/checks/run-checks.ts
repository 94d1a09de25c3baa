import { z } from 'zod'
import { messageOf } from '../../common/errors.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { toOneLine, truncateEnd } from '../../common/text/text.js'
import { interruptAfter } from '../../tools/validation/time-limit.js'
import type { ObservedRun } from '../samples/observed-run.js'
import type { EvalTask } from '../tasks/load-tasks.js'
import type { Check } from '../tasks/task-schema.js'
import { declaredCheck } from './declared-check.js'
import { failed, passed, type Verdict } from './verdict.js'

/** Conditions that need runs of their own. */
export interface CheckRuns {
  /** Executes a check program in the sandbox. @param index number of the check, for the id of the run */
  program(source: string, index: number): Promise<Verdict>
  judge(judge: NonNullable<Check['judge']>, index: number): Promise<Verdict>
}

/** Milliseconds of a function of a module. */
const moduleMs = 60_000
const maxReason = 1_000

/**
 * Evaluates the conditions of a task in their order. The first that does not pass decides: an answer that a cheap
 * condition refuses is not given to a judge.
 */
export async function runChecks(task: EvalTask, run: ObservedRun, runs: CheckRuns): Promise<Verdict> {
  for (const [index, check] of task.check.entries()) {
    const verdict = await evaluate(task, check, index, run, runs)
    if (verdict.type === 'passed') continue
    const reason = truncateEnd(toOneLine(verdict.reason), maxReason)
    return { ...verdict, reason: `check.${index}: ${reason}` }
  }
  return passed
}

async function evaluate(
  task: EvalTask,
  check: Check,
  index: number,
  run: ObservedRun,
  runs: CheckRuns,
): Promise<Verdict> {
  try {
    const declared = declaredCheck(check, run)
    if (declared !== undefined) return declared
  } catch (thrown) {
    return { type: 'error', reason: messageOf(thrown) }
  }
  if (check.module !== undefined) return callModule(task, check.module, run)
  if (check.program !== undefined) return runs.program(task.texts.get(check.program) ?? '', index)
  if (check.judge !== undefined) return runs.judge(check.judge, index)
  return { type: 'error', reason: 'the condition is of no known kind' }
}

const moduleResult = z.union([
  z.boolean(),
  z.object({ passed: z.boolean(), reason: z.string().max(100_000).optional() }),
])

async function callModule(
  task: EvalTask,
  { file, export: name }: NonNullable<Check['module']>,
  run: ObservedRun,
): Promise<Verdict> {
  const check = task.modules.get(file)?.[name]
  try {
    if (typeof check !== 'function') throw new Error(`${file} exports no function ${name}`)
    const returned: unknown = await raceWithSignal(
      AbortSignal.timeout(moduleMs),
      // The time limit of the first part holds for code that never gives up the thread.
      Promise.resolve(interruptAfter((): unknown => check(run, { inputData: task.inputData }), moduleMs)),
    )
    const result = moduleResult.safeParse(returned)
    if (!result.success) return { type: 'error', reason: `${name} of ${file} returned no verdict` }
    if (result.data === true) return passed
    if (result.data === false) return failed(`${name} of ${file} returned false`)
    return result.data.passed ? passed : failed(result.data.reason ?? `${name} of ${file} refused the answer`)
  } catch (thrown) {
    return { type: 'error', reason: `${name} of ${file} threw: ${messageOf(thrown)}` }
  }
}
