import { PtcError } from '../common/errors.js'
import type { JsonObject } from '../common/json/json.js'
import { executeCodeTool, submitAnswerTool } from '../common/names.js'
import type { ToolDocumentation } from '../tools/documentation.js'
import { codeTool, type PromptLimits } from './code-tool.js'
import type { ModelRequest, ModelTool } from './provider.js'
import { answerTool } from './answer-tool.js'
import { readMoreOfResult } from './read-more-tool.js'
import { searchTools, toolLine } from './search-tools-tool.js'

export interface PromptOptions {
  /** In this order, because a stub may use a class that an earlier one declares. */
  readonly tools: readonly ToolDocumentation[]
  readonly limits: PromptLimits
  /** The user's system prompt; precedes the engine's. */
  readonly instructions?: string | undefined
  /** The sandbox may have more than the standard library, because the user configured an image or a backend. */
  readonly hasPackages?: boolean
  /** JSON Schema of the answer. Undefined: the answer is text. */
  readonly outputSchema?: JsonObject | undefined
  /** Describes the data that code has as `input_data`. Undefined: there is none. */
  readonly inputDescription?: string | undefined
  /** Code tools have one line each, and the model searches their documentation. */
  readonly toolSearch?: boolean | undefined
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
  const { tools, limits, instructions, hasPackages, outputSchema, inputDescription, isCompacted, readMore } = options
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
  const answerGuide = outputSchema && answerGuidance
  return {
    system: [instructions?.trim(), guidance(directTools.length > 0), isCompacted && compactionGuidance, answerGuide]
      .filter(Boolean)
      .join('\n\n'),
    tools: [
      codeTool(stubs, limits, { hasPackages, inputDescription, toolSearch }),
      ...(toolSearch ? [searchTools] : []),
      ...directTools.map(toModelTool),
      ...(readMore === true ? [readMoreOfResult] : []),
      ...(outputSchema ? [answerTool(outputSchema)] : []),
    ],
  }
}

function isCodeTool({ allowedCallers }: ToolDocumentation): boolean {
  return allowedCallers.includes('code_execution')
}

const compactionGuidance = `\
When this conversation gets long, old tool results are shortened and early messages are replaced by a summary. Write down \
in your replies what must last: decisions, and what you found out. Keep data in variables of your code: they stay.`

const answerGuidance = `\
Deliver your final answer with ${submitAnswerTool}, alone in a reply, when you have the results of everything else. A text \
is not an answer.`

function guidance(hasDirectTools: boolean): string {
  const guide = `\
You can run Python with ${executeCodeTool}. Use it for anything that takes several tool calls, loops, or large results: \
write one program that makes the calls, works on their results, and prints only what you need. Results stay in the \
sandbox and cost you nothing until you print them.`
  if (!hasDirectTools) return guide
  return `${guide} A single call whose whole result you need can be made directly.`
}

function toModelTool({ name, description, inputSchema, inputExamples }: ToolDocumentation): ModelTool {
  return { name, description, inputSchema, inputExamples }
}
