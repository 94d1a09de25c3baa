import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'

/** The error of a complete reply whose form can't be used. The same request often gets the same form again. */
export function invalidReply(what: string, cause?: unknown): PtcError {
  return new PtcError('MODEL_REPLY_INVALID', `The model's reply can't be used: ${what}.`, {
    hint: 'When it happens again, the server does not speak the API of its provider.',
    ...defined({ cause }),
  })
}
