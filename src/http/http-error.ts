const statuses = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  BODY_TOO_LARGE: 413,
}

/** A request that a server refuses. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: keyof typeof statuses
  readonly status: number

  constructor(code: keyof typeof statuses, message: string) {
    super(message)
    this.code = code
    this.status = statuses[code]
  }
}
