import type { CellOutcome } from '../../common/outcomes.js'
import type { RunTree } from '../history/index.js'

/**
 * How a program ended, with all that was captured of what it printed: its result has the copy that is cut for a model, the
 * history has more.
 */
export function withCaptured(outcome: CellOutcome, { turns }: Pick<RunTree, 'turns'>): CellOutcome {
  const captured = turns.flatMap(({ cells }) => cells)[0]?.output ?? ''
  return captured.length > outcome.output.length ? { ...outcome, output: captured } : outcome
}
