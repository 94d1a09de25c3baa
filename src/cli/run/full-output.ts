import type { CellOutcome } from '../../common/calls/outcomes.js'
import type { RunTree } from '../../client/run-tree/index.js'

/**
 * The outcome of a program with all captured output. The output of the result is truncated for a model; the history has
 * more.
 */
export function withFullOutput(outcome: CellOutcome, { turns }: Pick<RunTree, 'turns'>): CellOutcome {
  const captured = turns.flatMap(({ cells }) => cells)[0]?.output ?? ''
  return captured.length > outcome.output.length ? { ...outcome, output: captured } : outcome
}
