const marker: unique symbol = Symbol.for('durable-ptc.tool-error')

/**
 * Thrown by a tool to reject a call permanently: `throw new ToolError('No such employee')`. Never retried. The caller
 * (model or code) gets the message. Any other error may be retried.
 */
export class ToolError extends Error {
  override readonly name: string = 'ToolError'
  readonly [marker] = true

  /** True for a ToolError of any copy of this package. */
  static isInstance(value: unknown): value is ToolError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
