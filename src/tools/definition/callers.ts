import type { Caller } from '../../common/calls/calls.js'
import type { Tool } from '../tool.js'
import type { AllowedCaller } from '../tool-definition.js'
import { checkChoice } from './invalid-tool.js'
import type { OptionBasis } from './option-basis.js'

const callers: readonly Caller[] = Object.freeze(['direct', 'code_execution'] as const)

/** A tool that is offered in two ways appears twice in every prompt. */
const defaultOffer: readonly Caller[] = Object.freeze(['code_execution'] as const)

/** The Messages API names its code execution with a version, which makes no difference here. */
const versioned: readonly AllowedCaller[] = [
  'code_execution_20250825',
  'code_execution_20260120',
  'code_execution_20260521',
]

/** The callers that may call a tool, and the callers whose prompt documents it. */
export function callersOf({
  definition: { allowedCallers: given },
  invalid,
}: OptionBasis): Pick<Tool, 'allowedCallers' | 'offeredTo'> {
  if (given === undefined) return { allowedCallers: callers, offeredTo: defaultOffer }
  const named = Array.isArray(given)
    ? given.map((caller: AllowedCaller) => (versioned.includes(caller) ? 'code_execution' : caller))
    : given
  checkChoice('allowedCallers', named, callers, invalid)
  const allowedCallers = Object.freeze(callers.filter((caller) => named.includes(caller)))
  return { allowedCallers, offeredTo: allowedCallers }
}
