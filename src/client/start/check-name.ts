import { PtcError } from '../../common/errors.js'
import { entityNamePattern } from '../../common/names.js'

/**
 * Checks the name of a session or a conversation, which is a part of the id of its workflow.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function checkName(what: 'session' | 'conversation', name: string): void {
  if (entityNamePattern.test(name)) return
  throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(name)} can't be the name of a ${what}`, {
    hint: 'A name has 1 to 100 letters, digits, dots, dashes and underscores, and begins with a letter or digit.',
  })
}
