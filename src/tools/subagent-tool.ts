import { z } from 'zod'
import type { SubagentTarget } from '../common/calls/tool-config.js'
import { workflowNames } from '../common/names.js'
import type { ApprovalOption } from './built-in/approval-option.js'
import { defineTool } from './define-tool.js'
import type { JsonSchema } from './definition/schemas.js'
import { sealTool, type Tool } from './tool.js'
import type { ToolDeclaration } from './tool-definition.js'

interface SubagentTool extends Pick<
  ToolDeclaration<z.ZodObject, z.ZodType>,
  'name' | 'description' | 'allowedCallers'
> {
  readonly approval?: ApprovalOption<{ readonly task: string }>
  /** The description of the argument `task`. */
  readonly task: string
  /** Schema of the answer. Default: text. */
  readonly output?: JsonSchema | undefined
}

/** Makes a tool whose calls start sub-agents. */
export function subagentTool({ task, output, ...declared }: SubagentTool, agent: SubagentTarget): Tool {
  const tool = defineTool({
    ...declared,
    input: z.object({ task: z.string().min(1).describe(task) }),
    output: output ?? z.string(),
    // The calls of the agent have their own identities, and Temporal never repeats the agent itself.
    effect: 'idempotent',
    workflow: { type: workflowNames.agent },
  })
  return sealTool({ ...tool, remote: Object.freeze({ kind: 'workflow', type: workflowNames.agent, agent }) })
}
