import type { OptionBasis } from './option-basis.js'
import type { Tool } from '../tool.js'
import type { Compensate } from '../tool-definition.js'

/**
 * The inverse of a tool, bound to its definition; undefined for a tool without one.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function compensateOf({ definition, remote, invalid }: OptionBasis): Pick<Tool, 'compensate' | 'compensates'> {
  const { compensate, effect, deferred } = definition
  if (compensate === undefined) return {}
  if (typeof compensate !== 'function') throw invalid('compensate must be a function')
  if (remote !== undefined) {
    throw invalid('compensate is for a tool with run', `A worker of durable-ptc can't undo what a ${remote.kind} does.`)
  }
  if (deferred !== undefined) {
    throw invalid('compensate is not for a deferred tool', 'The system that has the work undoes it.')
  }
  if (effect === 'read') throw invalid("compensate is not for effect 'read'", 'A read changes nothing.')
  return { compensates: true, compensate: compensate.bind(definition) as Compensate }
}
