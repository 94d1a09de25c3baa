import { environmentLanguage } from '../../common/run/environment.js'
import { bash } from '../bash/index.js'
import { dispatchedRunner } from '../dispatcher.js'
import type { Language } from '../language.js'

/**
 * The language of the cells that uses of environment tools become. A cell is a JSON object, which the dispatcher
 * executes. A run has it besides another language, and neither the model nor people write it.
 */
export const environment: Language = {
  ...bash,
  name: environmentLanguage,
  title: 'Environment',
  extension: '.environment',
  otherExtensions: [],
  runner: dispatchedRunner(environmentLanguage, { environment: true }),
  isStateless: true,
  isInternal: true,
  callsIn: () => [],
}
