import { z } from 'zod'
import { defineTool } from '../define-tool.js'
import type { Tool } from '../tool.js'

export interface ThinkOptions {
  /** Name of the tool. Default `think`. */
  readonly name?: string
}

/**
 * A tool that does nothing: the model writes down a thought between two calls. The thought is recorded as the argument
 * of the call.
 */
export function think({ name = 'think' }: ThinkOptions = {}): Tool {
  return defineTool({
    name,
    description:
      'Writes down a thought, and has no other effect. Use it to reason about results before the next call, such as ' +
      'to check a plan against rules.',
    input: z.object({ thought: z.string().min(1).max(50_000) }),
    output: z.string(),
    allowedCallers: ['direct'],
    effect: 'read',
    summary: ({ thought }) => thought,
    run: () => 'The thought is recorded.',
  }) as Tool
}
