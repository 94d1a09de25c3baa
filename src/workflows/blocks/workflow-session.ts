import { resultCharacters } from '../../common/run/limits.js'
import { ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'
import type { CellOutcome } from '../../common/calls/outcomes.js'
import type { StoredFile } from '../../common/files/files.js'
import type { ProgramInput } from '../../common/run/runs.js'
import { problemOfCellLanguage } from '../cell/cell-language.js'
import { closeRuntime, type CodeRuntime, createCodeRuntime } from '../cell/code-runtime.js'
import { runCellToOutcome } from '../cell/run-cell.js'
import { closeEmbeddedRun, openEmbeddedRun } from '../start-run.js'
import { rejection } from '../temporal/failures.js'

/** Options of a session of a workflow. `input` is variable `input_data` of its code. */
export interface SessionOptions extends Pick<
  ProgramInput,
  'sandbox' | 'language' | 'limits' | 'network' | 'tools' | 'context' | 'input'
> {
  /** Files for the code, which are stored already. With some, or with `[]`, outcomes have the artifacts of the code. */
  readonly files?: readonly StoredFile[]
}

export interface ExecuteCodeOptions {
  /** The language of the code, one of those of the session. Default: its first. */
  readonly language?: string
}

/** A sandbox that this workflow owns. Its variables live from one execution to the next. */
export interface WorkflowSession {
  /**
   * Executes code after all earlier executions of this session. The code calls tools, each as an activity of this
   * workflow. Code that fails is an outcome, not an error.
   *
   * @throws ApplicationFailure SESSION_CLOSED, RUN_INPUT_INVALID for a language that the session does not have, and
   * failures of the engine; CancelledFailure
   */
  execute(source: string, options?: ExecuteCodeOptions): Promise<CellOutcome>
  /** Removes the sandbox, also when the workflow is cancelled. Executions in progress end. Idempotent. */
  close(): Promise<void>
}

/**
 * Opens a session in this workflow. Its sandbox starts with the first execution. Close it in a `finally`, and before
 * the workflow continues as new.
 *
 * @throws ActivityFailure when the configuration can't be read
 */
export async function openSession(options: SessionOptions = {}): Promise<WorkflowSession> {
  const calls = await openEmbeddedRun(options)
  calls.run.requireSandbox()
  const { timeouts } = calls.run.config
  const runtime = createCodeRuntime(calls, { idleMs: timeouts.idleMs, outputCharacters: resultCharacters })
  return new EmbeddedSession(runtime)
}

class EmbeddedSession implements WorkflowSession {
  readonly #runtime: CodeRuntime
  readonly #cells = new CancellationScope()
  #closing: Promise<void> | undefined

  constructor(runtime: CodeRuntime) {
    this.#runtime = runtime
  }

  async execute(source: string, { language }: ExecuteCodeOptions = {}): Promise<CellOutcome> {
    const problem = problemOfCellLanguage(this.#runtime.run.config, language)
    if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', problem)
    try {
      return await this.#runtime.queue.run(() => {
        if (this.#closing) throw closedFailure()
        return runCellToOutcome(this.#cells, this.#runtime, { source, language })
      })
    } catch (thrown) {
      throw isCancellation(thrown) && this.#closing ? closedFailure() : thrown
    }
  }

  close(): Promise<void> {
    this.#cells.cancel()
    closeEmbeddedRun(this.#runtime.calls)
    return (this.#closing ??= closeRuntime(this.#runtime)) // invariant 3 of `index.ts`
  }
}

const closed: ErrorCode = 'SESSION_CLOSED'

function closedFailure(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('the session was closed before the code ended', closed)
}
