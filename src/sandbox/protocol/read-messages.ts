import { PtcError } from '../../common/errors.js'
import { FrameDecoder } from './frames.js'
import { type RunnerMessage, runnerMessage } from './messages.js'

/**
 * What a runner says, frame after frame, each checked.
 *
 * @param options `resume`: the bytes may begin in the middle of a frame
 * @throws PtcError SANDBOX_PROTOCOL for the first frame that is none
 */
export async function* readMessages(
  received: AsyncIterable<Uint8Array>,
  frameBytes: number,
  options: { readonly resume: boolean },
): AsyncGenerator<RunnerMessage, void, undefined> {
  const decoder = new FrameDecoder(frameBytes, options)
  for await (const chunk of received) {
    for (const frame of decoder.push(chunk)) {
      const { success, data, error } = runnerMessage.safeParse(frame)
      if (!success) {
        const problem = error.issues[0]?.message ?? 'unknown frame'
        throw new PtcError('SANDBOX_PROTOCOL', `the sandbox broke the protocol: ${problem}`)
      }
      yield data
    }
  }
}
