import { PtcError } from '../../common/errors.js'
import { defined } from '../../common/defined.js'
import type { JsonObject } from '../../common/json/json.js'
import { executeCodeTool } from '../../common/names.js'
import type { SandboxContents } from '../../common/run/sandbox-image.js'
import type { SharedSessionOwner } from '../../common/agent/model-turn.js'
import type { EnvironmentConfig } from '../../common/run/environment.js'
import type { RecordedMode } from '../../common/agent/task-modes.js'
import type { ToolDocumentation } from '../../tools/documentation/document-tools.js'
import { codeTool } from './code-tool.js'
import { environmentToolsOf } from './environment-tools.js'
import { exampleCallOf } from './example-call.js'
import { type FurtherSession, shareFileToolOf } from './further-sessions.js'
import type { ModelRequest, ModelTool } from '../provider.js'
import { defaultLanguage, type EnvironmentLimits, type Language, mayTakeNumbers } from '../../languages/index.js'
import { readMoreOfResult } from './read-more-tool.js'
import { searchTools } from './search-tools-tool.js'
import { describeSkills, type SkillsInPrompt, skillTools } from './skill-tools.js'
import { taskPrompt } from './task-tools.js'
import { listTools } from './tool-list.js'

/** What the prompt says about the sandbox. */
export interface SandboxDescription {
  /** The sandbox may have more than the standard library, because the user configured an image or a backend. */
  readonly hasPackages?: boolean
  /** The sandbox is the embedded one. */
  readonly isEmbedded?: boolean
}

export interface PromptOptions extends SandboxDescription {
  /** The language of code. Default: the default language. */
  readonly language?: Language
  /** The order is kept, because a stub may use a class that an earlier stub declares. */
  readonly tools: readonly ToolDocumentation[]
  readonly limits: EnvironmentLimits
  /** The user's system prompt; precedes the engine's. */
  readonly instructions?: string | undefined
  /** JSON Schema of the answer. Undefined: the answer is text. */
  readonly outputSchema?: JsonObject | undefined
  /** How the agent works on its question. Undefined: `answer`. */
  readonly mode?: RecordedMode | undefined
  /** What programs find in the sandbox. Undefined: unknown. */
  readonly contents?: SandboxContents | undefined
  /** Describes the data in `input_data`. Undefined: there is none. */
  readonly inputDescription?: string | undefined
  readonly networkDescription?: string | undefined
  /** The session whose variables code also sees. Undefined: the run has its own sandbox. */
  readonly sharedSession?: SharedSessionOwner | undefined
  /** The further sandboxes of the run. Undefined: it has only its own. */
  readonly sessions?: readonly FurtherSession[] | undefined
  /** Each code tool has only one line, and the model searches their documentation. */
  readonly toolSearch?: boolean | undefined
  /** The provider searches direct tools, if it supports that. */
  readonly providerSearch?: boolean | undefined
  /** The model may read the rest of results that were cut. */
  readonly readMore?: boolean | undefined
  /** Undefined: the run has no skills. */
  readonly skills?: SkillsInPrompt | undefined
  /** The run has uploads and artifacts. */
  readonly hasFiles?: boolean | undefined
  /** The messages may be compacted. */
  readonly isCompacted?: boolean | undefined
  /** Undefined: the model uses the sandbox only by its code. */
  readonly environment?: EnvironmentConfig | undefined
  /** The model has the direct tools, and no tool of the engine except the tool for an answer with a schema. */
  readonly isPlain?: boolean | undefined
}

export type Prompt = Pick<ModelRequest, 'system' | 'tools'>

/**
 * System prompt and tools of every turn of a run. Deterministic: prompt caching depends on equal bytes.
 *
 * @throws PtcError TOOL_DUPLICATE when a tool has the name of the code tool
 */
export function buildPrompt(options: PromptOptions): Prompt {
  const {
    tools,
    limits,
    instructions,
    hasPackages,
    isEmbedded,
    outputSchema,
    mode,
    inputDescription,
    networkDescription,
  } = options
  const {
    contents,
    skills,
    sharedSession,
    sessions,
    hasFiles,
    isCompacted,
    readMore,
    providerSearch = false,
    isPlain = false,
  } = options
  const { language = defaultLanguage } = options
  if (!isPlain && tools.some(({ name }) => name === executeCodeTool)) {
    const hint = 'Give it another name.'
    throw new PtcError('TOOL_DUPLICATE', `No tool may be called ${executeCodeTool}: that is the code tool.`, { hint })
  }
  const codeTools = tools.filter(({ offeredTo }) => offeredTo.includes('code_execution'))
  const toolSearch = options.toolSearch === true && codeTools.length > 0
  const directTools = tools.filter(
    ({ offeredTo }) => offeredTo.includes('direct') && !(toolSearch && offeredTo.includes('code_execution')),
  )
  // Each tool is documented once.
  const stubOf = (tool: ToolDocumentation): string => (directTools.includes(tool) ? tool.signature : tool.stub)
  const list = toolSearch ? listTools(codeTools, language) : undefined
  const stubs = list ? list.lines : codeTools.map(stubOf)
  const hasSignatures = codeTools.some((tool) => directTools.includes(tool))
  const task = taskPrompt(mode, outputSchema)
  const isGrouped = list?.isGrouped === true
  const example = codeTools[0] && exampleCallOf(codeTools[0])
  const environment = { contents, hasPackages, isEmbedded, inputDescription, networkDescription, sharedSession }
  const hasEnvironment = options.environment !== undefined
  const takesNoNumbers = !codeTools.some((tool) => mayTakeNumbers(tool.inputSchema))
  const isRepeatable = codeTools.every(({ effect }) => effect === 'read' || effect === 'idempotent')
  const rules = { hasSignatures, takesNoNumbers, isRepeatable }
  const described = { ...environment, toolSearch, isGrouped, example, ...rules }
  const runTools = [
    ...(isPlain ? [] : [codeTool(language, stubs, limits, { ...described, hasFiles, hasEnvironment, sessions })]),
    ...(options.environment ? environmentToolsOf(options.environment, language, sessions) : []),
    ...(sessions && hasFiles === true ? [shareFileToolOf(sessions)] : []),
    ...(toolSearch ? [searchTools] : []),
    ...directTools.map((tool) => toModelTool(tool, providerSearch)),
    ...(readMore === true ? [readMoreOfResult] : []),
    ...skillTools(skills),
  ]
  const system = [instructions?.trim(), describeSkills(skills), isCompacted && compactionGuidance, task.guidance]
  return {
    system: system.filter(Boolean).join('\n\n'),
    tools: [...(task.hasTools ? runTools : []), ...task.taskTools],
  }
}

const compactionGuidance = `\
Old results get shortened, and early messages summarized: write in your replies what must last.`

function toModelTool(tool: ToolDocumentation, loadedBySearch: boolean): ModelTool {
  const { name, description, inputSchema, inputExamples, nativeType } = tool
  const model = { name, description, inputSchema, inputExamples, ...defined({ nativeType }) }
  return { ...model, ...(loadedBySearch && { loadedBySearch }) }
}
