import type { ValuesToFetch } from './fetched-values.js'
import { parseRef } from './external-values.js'
import type { RunTree } from '../tree.js'

/** Returns the external values that a rendered tree shows. */
export function valuesToFetch({ turns }: RunTree, full: boolean): ValuesToFetch {
  const cells = turns.flatMap((turn) => turn.cells)
  const texts = cells.flatMap(({ codeRef, outputRefs }) => (codeRef ? [codeRef, ...outputRefs] : outputRefs))
  if (!full) return { whole: texts, previews: [] }
  const calls = [...cells.flatMap((cell) => cell.calls), ...turns.flatMap((turn) => turn.directCalls)]
  return {
    whole: [...texts, ...calls.flatMap((call) => parseRef(call.arguments) ?? [])],
    previews: calls.flatMap(({ resultRef }) => resultRef ?? []),
  }
}
