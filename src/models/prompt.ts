import { PtcError } from '../common/errors.js'
import { executeCodeTool } from '../common/names.js'
import type { ToolDocumentation } from '../tools/documentation.js'
import { codeTool, type PromptLimits } from './code-tool.js'
import type { ModelRequest, ModelTool } from './provider.js'

export interface PromptOptions {
  /** Told of in this order, so that a stub may use what an earlier one declares. */
  readonly tools: readonly ToolDocumentation[]
  readonly limits: PromptLimits
  /** The user's own system prompt; stands before ours. */
  readonly instructions?: string | undefined
  /** The sandbox may have more than the standard library: an image or a backend of the user's own. */
  readonly hasPackages?: boolean
}

export type Prompt = Pick<ModelRequest, 'system' | 'tools'>

/**
 * What a model is told at the start of every turn of a run. The same options give the same bytes: prompt caches live
 * on that.
 *
 * @throws PtcError TOOL_DUPLICATE when a tool has the code tool's name
 */
export function buildPrompt({ tools, limits, instructions, hasPackages }: PromptOptions): Prompt {
  if (tools.some(({ name }) => name === executeCodeTool)) {
    const hint = 'Give it another name.'
    throw new PtcError('TOOL_DUPLICATE', `No tool may be called ${executeCodeTool}: that is the code tool.`, { hint })
  }
  const inCode = tools.filter(({ allowedCallers }) => allowedCallers.includes('code_execution'))
  const direct = tools.filter(({ allowedCallers }) => allowedCallers.includes('direct'))
  const stubs = inCode.map(({ stub }) => stub)
  return {
    system: [instructions?.trim(), guidance(direct.length > 0)].filter(Boolean).join('\n\n'),
    tools: [codeTool(stubs, limits, hasPackages), ...direct.map(directTool)],
  }
}

function guidance(hasDirectTools: boolean): string {
  const guide = `\
You can run Python with ${executeCodeTool}. Use it for anything that takes several tool calls, loops, or large results: \
write one program that makes the calls, works on their results, and prints only what you need. Results stay in the \
sandbox and cost you nothing until you print them.`
  if (!hasDirectTools) return guide
  return `${guide} A single call whose whole result you need can be made directly.`
}

function directTool({ name, description, inputSchema, inputExamples }: ToolDocumentation): ModelTool {
  return { name, description, inputSchema, inputExamples }
}
