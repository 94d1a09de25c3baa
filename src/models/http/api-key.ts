import { PtcError } from '../../common/errors.js'

/**
 * Checks the key in an environment variable before a request.
 *
 * @throws PtcError MODEL_AUTH
 */
export function checkKey(key: string | undefined, variable: string): void {
  if (!key) {
    throw new PtcError('MODEL_AUTH', `There is no API key for the model: ${variable} is not set.`, {
      hint: `Set ${variable} in the environment of the worker.`,
    })
  }
  // The error of such a request would contain the key.
  if (/^[\x21-\x7e]+$/.test(key)) return
  throw new PtcError('MODEL_AUTH', `${variable} has a character that can't be sent.`, {
    hint: 'Set it again without line breaks and quotes.',
  })
}
