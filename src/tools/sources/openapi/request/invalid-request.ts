/** The arguments of a call can't be sent, so nothing was sent. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError'
}
