import { dataLabels } from './options.js'
import type { Tool } from '../tool.js'
import type { LabelResult } from '../tool-definition.js'
import { parseOption } from './invalid-tool.js'
import type { OptionBasis } from './option-basis.js'

export function labelsOf({
  definition: { labels, execution, deferred },
  remote,
  invalid,
}: OptionBasis): Pick<Tool, 'labels' | 'labelResult'> {
  if (labels === undefined) return {}
  if (typeof labels !== 'function') return { labels: Object.freeze(parseOption('labels', dataLabels, labels, invalid)) }
  if (remote || deferred !== undefined)
    throw invalid('labels must be a list', 'Only a tool that returns its result from run may label each result.')
  if (execution === 'local')
    throw invalid("execution 'local' and labels by a function exclude each other", 'Make the labels a list.')
  return { labelResult: labels as LabelResult }
}

export function keepsArgumentsOf({
  definition: { keepsArguments = false },
  invalid,
}: OptionBasis): Pick<Tool, 'keepsArguments'> {
  if (typeof keepsArguments !== 'boolean') throw invalid('keepsArguments must be true or false')
  return keepsArguments ? { keepsArguments } : {}
}
