import type { CompleteOptions } from '../../client/calls/complete-call.js'
import type { PtcClient } from '../../client/index.js'
import { PtcError } from '../../common/errors.js'

/**
 * Answers a question with a text. A call is known as a question by its arguments: its tool may want another result.
 *
 * @param command gives the call a result that is not a text
 * @throws PtcError as `completeCall`; of TOOL_OUTPUT_INVALID, the hint has the command
 */
export async function answerCall(
  ptc: Pick<PtcClient, 'completeCall'>,
  token: string,
  text: string,
  command: string,
  options?: CompleteOptions,
): Promise<void> {
  try {
    await ptc.completeCall(token, text, options)
  } catch (thrown) {
    if (!PtcError.isInstance(thrown) || thrown.code !== 'TOOL_OUTPUT_INVALID') throw thrown
    const hint = `The call still waits. If its tool wants another result than a text: ${command}`
    throw new PtcError(thrown.code, thrown.message, { hint, cause: thrown })
  }
}
