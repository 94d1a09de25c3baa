import type { CallOutcome } from '../../common/outcomes.js'
import type { ToolConfig } from '../../common/run-config.js'

/** The outcome of a `once` tool that may or may not have happened. */
export function outcomeUnknown({ name }: Pick<ToolConfig, 'name'>, why: string): CallOutcome {
  return {
    status: 'outcome_unknown',
    message: `${name} may or may not have happened: ${why}. It is not repeated by itself.`,
  }
}
