import { subagentTool } from '../subagent-tool.js'
import type { Tool } from '../tool.js'
import type { ApprovalOption } from './approval-option.js'

export interface SubagentOptions {
  /** Name of the tool. Default `subagent`. */
  readonly name?: string
  /** Whether a person approves a sub-agent, as for `defineTool`. Default: no sub-agent. */
  readonly approval?: ApprovalOption<{ readonly task: string }>
}

/**
 * A tool that gives a task to a clone of the agent that calls it: the same instructions, model and tools, but not this
 * tool, and a context and a sandbox of its own. The result is the answer, as text.
 */
export function subagent({ name = 'subagent', approval }: SubagentOptions = {}): Tool {
  return subagentTool(
    {
      name,
      description:
        'Gives a task to a sub-agent with your instructions and tools, and returns its answer as text. It has a context ' +
        'and a sandbox of its own, works by itself, and may take minutes. Use it for a part of the work whose details ' +
        'you do not need, or for several parts at the same time.',
      task: 'All that the sub-agent gets to know: it sees none of your messages, variables and files.',
      allowedCallers: ['direct', 'code_execution'],
      ...(approval !== undefined && { approval }),
    },
    Object.freeze({}),
  )
}
