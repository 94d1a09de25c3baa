import { encodeFrame } from './frames.js'
import type { HostMessage } from './messages.js'

/**
 * Returns the frame of a message of the host.
 *
 * @throws PtcError of {@link encodeFrame}
 */
export function encodeMessage(message: HostMessage, frameBytes: number): Uint8Array {
  if (message.type !== 'value') return encodeFrame(message, frameBytes)
  const { text, ...fields } = message
  return encodeFrame(fields, frameBytes, text)
}
