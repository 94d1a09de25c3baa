const marker: unique symbol = Symbol.for('durable-ptc.tool-error')

/**
 * What a tool throws to say a definite no (`throw new ToolError('No such employee')`): never retried, and the caller, model or
 * code, reads the message. Anything else a tool throws counts as an accident and may be retried.
 */
export class ToolError extends Error {
  override readonly name: string = 'ToolError'
  readonly [marker] = true

  /** True for a ToolError of any copy of this package. */
  static isInstance(value: unknown): value is ToolError {
    return typeof value === 'object' && value !== null && marker in value
  }
}
