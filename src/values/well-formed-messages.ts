import proto from '@temporalio/proto'

/** The part of protobufjs' writer that writes fields of type string. */
interface MessageWriter {
  string: (text: unknown) => MessageWriter
}

let isInstalled = false

/**
 * Makes every text in a string field of Temporal's messages well-formed: a lone surrogate becomes U+FFFD.
 *
 * protobufjs writes a lone surrogate in a text of up to 39 units as bytes that are not valid UTF-8, and replaces it in
 * a longer text. The core of a worker can't read such a message, and the worker ends; the next attempt ends the next
 * worker. Such texts come from tools, code, models, file names and clients, and from activities and workflows of users.
 * All messages of workers and clients are written by this writer, so no field is left out.
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
