import { ToolError } from '../tool-error.js'

/** Why a command had no effect. */
export type MemoryProblem =
  | 'arguments_invalid'
  | 'path_refused'
  | 'not_found'
  | 'exists'
  | 'text_not_found'
  | 'text_not_unique'
  /** Another writer was faster, and the command no longer fits what is stored. */
  | 'conflict'
  | 'too_many_files'
  | 'file_too_large'
  | 'memory_full'
  | 'scope_invalid'

/** A command of the memory tool that had no effect. The model gets the message, and the call is not retried. */
export class MemoryError extends ToolError {
  override readonly name = 'MemoryError'

  readonly problem: MemoryProblem

  constructor(problem: MemoryProblem, message: string) {
    super(message)
    this.problem = problem
  }
}
