import type { WantedValues } from './fetched-values.js'
import { refIn } from './elsewhere.js'
import type { RunTree } from './tree.js'

/** The values kept elsewhere that a drawing of the tree shows. */
export function shownValues({ turns }: RunTree, full: boolean): WantedValues {
  const cells = turns.flatMap((turn) => turn.cells)
  const texts = cells.flatMap(({ codeRef, outputRefs }) => (codeRef ? [codeRef, ...outputRefs] : outputRefs))
  if (!full) return { whole: texts, beginnings: [] }
  const calls = [...cells.flatMap((cell) => cell.calls), ...turns.flatMap((turn) => turn.directCalls)]
  return {
    whole: [...texts, ...calls.flatMap((call) => refIn(call.arguments) ?? [])],
    beginnings: calls.flatMap(({ resultRef }) => resultRef ?? []),
  }
}
