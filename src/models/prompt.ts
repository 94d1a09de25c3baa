import { PtcError } from '../common/errors.js'
import type { JsonObject } from '../common/json/json.js'
import { executeCodeTool } from '../common/names.js'
import type { Limits } from '../common/runs/limits.js'
import type { RecordedMode } from '../common/runs/task-modes.js'
import type { ToolDocumentation } from '../tools/documentation.js'
import { codeTool, type PromptLimits } from './code-tool.js'
import type { ModelRequest, ModelTool } from './provider.js'
import { readMoreOfResult } from './read-more-tool.js'
import { searchTools, toolLine } from './search-tools-tool.js'
import { taskPrompt } from './task-tools.js'

export interface PromptOptions {
  /** In this order, because a stub may use a class that an earlier one declares. */
  readonly tools: readonly ToolDocumentation[]
  readonly limits: PromptLimits & Pick<Limits, 'planSteps'>
  /** The user's system prompt; precedes the engine's. */
  readonly instructions?: string | undefined
  /** The sandbox may have more than the standard library, because the user configured an image or a backend. */
  readonly hasPackages?: boolean
  /** JSON Schema of the answer. Undefined: the answer is text. */
  readonly outputSchema?: JsonObject | undefined
  /** How the agent works on its question. Undefined: `answer`. */
  readonly mode?: RecordedMode | undefined
  /** Describes the data that code has as `input_data`. Undefined: there is none. */
  readonly inputDescription?: string | undefined
  /** Code tools have one line each, and the model searches their documentation. */
  readonly toolSearch?: boolean | undefined
  /** The provider searches direct tools, if it can. */
  readonly providerSearch?: boolean | undefined
  /** The model may read the rest of results that were cut. */
  readonly readMore?: boolean | undefined
  /** The messages may be compacted. */
  readonly isCompacted?: boolean | undefined
}

export type Prompt = Pick<ModelRequest, 'system' | 'tools'>

/**
 * System prompt and tools of every turn of a run. Deterministic: prompt caching depends on equal bytes.
 *
 * @throws PtcError TOOL_DUPLICATE when a tool has the name of the code tool
 */
export function buildPrompt(options: PromptOptions): Prompt {
  const { tools, limits, instructions, hasPackages, outputSchema, mode, inputDescription } = options
  const { isCompacted, readMore, providerSearch = false } = options
  if (tools.some(({ name }) => name === executeCodeTool)) {
    const hint = 'Give it another name.'
    throw new PtcError('TOOL_DUPLICATE', `No tool may be called ${executeCodeTool}: that is the code tool.`, { hint })
  }
  const codeTools = tools.filter(isCodeTool)
  const toolSearch = options.toolSearch === true && codeTools.length > 0
  // With a search, each tool is described once.
  const directTools = tools.filter(
    (tool) => tool.allowedCallers.includes('direct') && !(toolSearch && isCodeTool(tool)),
  )
  const stubs = codeTools.map((tool) => (toolSearch ? toolLine(tool) : tool.stub))
  const task = taskPrompt(mode, outputSchema, limits.planSteps)
  const toolGuidance = task.hasTools ? guidance(directTools.length > 0) : undefined
  const runTools = [
    codeTool(stubs, limits, { hasPackages, inputDescription, toolSearch }),
    ...(toolSearch ? [searchTools] : []),
    ...directTools.map((tool) => toModelTool(tool, providerSearch)),
    ...(readMore === true ? [readMoreOfResult] : []),
  ]
  return {
    system: [instructions?.trim(), toolGuidance, isCompacted && compactionGuidance, task.guidance]
      .filter(Boolean)
      .join('\n\n'),
    tools: [...(task.hasTools ? runTools : []), ...task.taskTools],
  }
}

function isCodeTool({ allowedCallers }: ToolDocumentation): boolean {
  return allowedCallers.includes('code_execution')
}

const compactionGuidance = `\
When this conversation gets long, old tool results are shortened and early messages are replaced by a summary. Write down \
in your replies what must last: decisions, and what you found out. Keep data in variables of your code: they stay.`

function guidance(hasDirectTools: boolean): string {
  const guide = `\
You can run Python with ${executeCodeTool}. Use it for anything that takes several tool calls, loops, or large results: \
write one program that makes the calls, works on their results, and prints only what you need. Results stay in the \
sandbox and cost you nothing until you print them.`
  if (!hasDirectTools) return guide
  return `${guide} A single call whose whole result you need can be made directly.`
}

function toModelTool(tool: ToolDocumentation, loadedBySearch: boolean): ModelTool {
  const { name, description, inputSchema, inputExamples } = tool
  return { name, description, inputSchema, inputExamples, ...(loadedBySearch && { loadedBySearch }) }
}
