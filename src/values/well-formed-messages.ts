import proto from '@temporalio/proto'

/** The part of protobufjs' writer that writes the fields of type string. */
interface MessageWriter {
  string: (text: unknown) => MessageWriter
}

let isInstalled = false

/**
 * Makes every text in a string field of Temporal's messages well-formed: half a surrogate pair becomes U+FFFD.
 *
 * protobufjs writes half a pair in a text of up to 39 units as bytes that are no UTF-8, and replaces it in a longer
 * one. The core of a worker can't read such a message, and the worker ends; the next attempt ends the next worker. Such
 * texts come from tools, code, models, file names and clients, and a user's own activities and workflows pass them on.
 * All messages of workers and clients go through this writer, so no field is forgotten.
 * `docs/adr/0041-well-formed-texts.md` has the alternatives.
 */
export function makeMessagesWellFormed(): void {
  if (isInstalled) return
  isInstalled = true
  // The writer that Temporal's messages use: an installation may have several copies of protobufjs.
  const writer = proto.temporal.api.common.v1.Payload.encode({})
  const prototype = Object.getPrototypeOf(writer) as MessageWriter
  const write = prototype.string
  prototype.string = function (text) {
    // Untyped code may give any value as the type of a failure, for example.
    return write.call(this, typeof text === 'string' ? text.toWellFormed() : '')
  }
}
