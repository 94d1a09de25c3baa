import { log } from '@temporalio/activity'
import { runWork } from '../../common/async/uncaught-errors.js'
import { isDataLabel, maxLabelsOfResult } from '../../common/calls/data-flow.js'
import type { JsonValue } from '../../common/json/json.js'
import type { Tool } from '../../tools/tool.js'
import { describeThrown } from '../../tools/calls/thrown.js'

/**
 * Returns the labels that a tool computes for a result.
 *
 * @returns undefined when its function fails, or returns something else: then every label counts
 */
export function labelsOf(tool: Tool | undefined, result: JsonValue): readonly string[] | undefined {
  if (!tool?.labelResult) return undefined
  const { name, labelResult } = tool
  try {
    const labels: unknown = runWork({ name: `labels of ${name}`, fail: () => false }, () =>
      labelResult(structuredClone(result) as never),
    )
    if (Array.isArray(labels) && labels.length <= maxLabelsOfResult && labels.every(isDataLabel)) return [...labels]
    log.warn(`labels of ${name} returned no list of at most ${maxLabelsOfResult} labels: every label counts`)
  } catch (thrown) {
    log.warn(`labels of ${name} threw: every label counts`, { error: describeThrown(thrown) })
  }
  return undefined
}
