import { z } from 'zod'
import { digestJson } from '../common/calls/call-identity.js'
import { PtcError } from '../common/errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../common/json/json.js'
import type { ToolConfig } from '../common/calls/tool-config.js'
import { type Redact, unredacted } from '../common/text/redact.js'
import { didYouMean } from '../common/text/unknown-keys.js'
import { renderStandaloneStub, documentTools, type ToolDocumentation } from './documentation/document-tools.js'
import { defaultLanguage, type Language, languageOf, parametersOf } from '../languages/index.js'
import { namesForCode } from './tool-name.js'
import { requireTool, type Tool } from './tool.js'

/** A tool in the form for the program in a sandbox. */
export interface ToolCallSignature {
  /** Name of the function. */
  readonly name: string
  /** Name of the tool. Absent: the name of the function. */
  readonly tool?: string
  /** Required parameters first, in the order of positional arguments. */
  readonly parameters: readonly string[]
  readonly required: readonly string[]
  /** The tool takes arguments of other names, too. */
  readonly open?: true
  readonly documentation: string
  /** What the dispatcher needs besides, for the command `tool`. */
  readonly description?: string
  /** JSON Schema of the input. Present if the description is. */
  readonly schema?: JsonObject
}

/** Accepts a recorded {@link ToolCallSignature}. */
export const toolCallSignatureSchema: z.ZodType<ToolCallSignature> = z.object({
  name: z.string(),
  tool: z.string().exactOptional(),
  parameters: z.array(z.string()),
  required: z.array(z.string()),
  open: z.literal(true).exactOptional(),
  documentation: z.string(),
  description: z.string().exactOptional(),
  schema: z.custom<JsonObject>(isJsonObject).exactOptional(),
})

/** The tools of a worker. Immutable, unless `liveRegistry` made it. Names are looked up in a Map, so names such as `constructor` are unknown. */
export interface ToolRegistry {
  /** Name of the language of documentation and signatures. */
  readonly language: string
  readonly names: readonly string[]
  get(name: string): Tool | undefined
  /** The tools, for the workflow. */
  toolConfigs(): readonly ToolConfig[]
  /** The documentation, for the model. */
  documentation(): readonly ToolDocumentation[]
  /** The signatures, for code: only the tools that code may call. */
  signatures(): readonly ToolCallSignature[]
  /**
   * JSON Schema of the result of each remote or deferred tool, by its name. Activity `tool.result` checks results with
   * it.
   */
  outputSchemas(): Readonly<Record<string, JsonObject>>
  /**
   * Digest of documentation, signatures and output schemas: two registries with the same digest describe the same
   * tools.
   */
  readonly digest: string
  /** Redacts every text about a call that people see. Never throws. */
  readonly redact: Redact
  /** The tools of this moment, which do not change: the registry itself, unless it is a live one. */
  readonly current: ToolRegistry
  /** What a live registry was before, the latest first: runs that began with these tools may still be open. */
  readonly earlier: readonly ToolRegistry[]
  /**
   * The registry of only these tools, in the order of this registry.
   *
   * @throws PtcError TOOL_UNKNOWN
   */
  subset(names: readonly string[]): ToolRegistry
  /**
   * The registry of the same tools, described in another language. A tool may have another name in its code.
   *
   * @throws PtcError SANDBOX_UNAVAILABLE for an unknown language
   */
  inLanguage(name: string): ToolRegistry
}

/** Names of the functions in the code of a language, by names of tools. */
type CodeNames = (language: Language) => ReadonlyMap<string, string>

/** Number of subsets that a registry caches. Most runs use the tools of an agent. */
const maxSubsets = 100

/**
 * @param redact must not throw
 * @param knownCodeNames names in code: a tool has the same name in each subset
 * @throws PtcError TOOL_DUPLICATE; CONFIG_INVALID for an object that is not from defineTool
 */
export function createRegistry(
  tools: readonly Tool[],
  redact: Redact = unredacted,
  knownCodeNames?: CodeNames,
  language: Language = defaultLanguage,
): ToolRegistry {
  const byName = new Map<string, Tool>()
  for (const [index, entry] of tools.entries()) {
    const tool = requireTool(entry, `tools[${index}]`)
    if (byName.has(tool.name)) {
      throw new PtcError('TOOL_DUPLICATE', `two tools are named ${tool.name}`, {
        hint: 'Rename or remove one of them.',
      })
    }
    byName.set(tool.name, tool)
  }
  const all = Object.freeze([...byName.values()])
  assertNotConfusable(all)
  assertOneRate(all)
  const toolConfigs = all.map(toToolConfig)
  const codeNamesIn: CodeNames =
    knownCodeNames ??
    ((each) =>
      namesForCode(
        all.map(({ name }) => name),
        each,
      ))
  const codeNames = codeNamesIn(language)
  const documentation = documentTools(all, codeNames, language)
  const signatures = all
    .filter(({ allowedCallers }) => allowedCallers.includes('code_execution'))
    .map((tool) => signatureOf(tool, codeNames, language))
  const outputSchemas = Object.fromEntries(
    all.filter(({ remote, deferred }) => remote ?? deferred).map(({ name, outputSchema }) => [name, outputSchema]),
  )
  const subsets = new Map<string, ToolRegistry>()
  const subset = (names: readonly string[]): ToolRegistry => {
    const unknown = names.find((name) => !byName.has(name))
    if (unknown !== undefined) {
      const known = [...byName.keys()]
      throw new PtcError(
        'TOOL_UNKNOWN',
        `there is no tool named ${JSON.stringify(unknown)}${didYouMean(unknown, known)}`,
      )
    }
    const chosen = all.filter(({ name }) => names.includes(name))
    if (chosen.length === all.length) return registry
    const key = JSON.stringify(chosen.map(({ name }) => name))
    const found = subsets.get(key) ?? createRegistry(chosen, redact, codeNamesIn, language)
    const [oldest] = subsets.keys()
    if (subsets.size >= maxSubsets && oldest !== undefined) subsets.delete(oldest)
    subsets.set(key, found)
    return found
  }
  const translated = new Map<string, ToolRegistry>()
  const inLanguage = (name: string): ToolRegistry => {
    if (name === language.name) return registry
    const found = translated.get(name) ?? createRegistry(all, redact, codeNamesIn, languageOf(name))
    translated.set(name, found)
    return found
  }
  const registry: ToolRegistry = Object.freeze({
    language: language.name,
    names: Object.freeze([...byName.keys()]),
    get: (name: string) => byName.get(name),
    toolConfigs: () => toolConfigs,
    documentation: () => documentation,
    signatures: () => signatures,
    outputSchemas: () => outputSchemas,
    digest: digestJson([documentation, signatures, outputSchemas] as unknown as JsonValue),
    redact,
    get current() {
      return registry
    },
    earlier: Object.freeze([]),
    subset,
    inLanguage,
  })
  return registry
}

/** The members of a tool that are not in its `ToolConfig`. The compiler refuses a list without one of them. */
const unrecorded: Readonly<Record<Exclude<keyof Tool, keyof ToolConfig>, true>> = {
  description: true,
  labels: true,
  labelResult: true,
  keepsArguments: true,
  lockBy: true,
  nativeType: true,
  input: true,
  output: true,
  inputSchema: true,
  outputSchema: true,
  file: true,
  documentsDefaults: true,
  offeredTo: true,
  approvalRule: true,
  rememberAs: true,
  compensate: true,
  refusesChanges: true,
  repairsArguments: true,
  credentials: true,
  inputExamples: true,
  summarize: true,
  run: true,
}

/** The part of a tool that a workflow needs. */
function toToolConfig(tool: Tool): ToolConfig {
  const members = Object.entries(tool).filter(([name]) => !Object.hasOwn(unrecorded, name))
  return Object.fromEntries(members) as unknown as ToolConfig
}

/** A worker with this package must never take the arguments of a remote activity for the call of another tool. */
function assertNotConfusable(tools: readonly Tool[]): void {
  const ownNames = new Set(tools.filter(({ remote }) => !remote).map(({ name }) => name))
  for (const { name, remote } of tools) {
    if (remote?.kind !== 'activity' || !ownNames.has(remote.type)) continue
    throw new PtcError('CONFIG_INVALID', `tool ${name}: its activity ${remote.type} has the name of another tool`, {
      hint: 'Rename the other tool.',
    })
  }
}

/** The server limits the rate of a task queue, not the rate of a tool. */
function assertOneRate(tools: readonly Tool[]): void {
  const rates = new Map<string, Tool>()
  for (const tool of tools) {
    if (tool.taskQueue === undefined) continue
    const other = rates.get(tool.taskQueue)
    rates.set(tool.taskQueue, other ?? tool)
    if (!other || other.rate?.perSecond === tool.rate?.perSecond) continue
    const message = `tools ${other.name} and ${tool.name} have one task queue, ${tool.taskQueue}, and different rates`
    throw new PtcError('CONFIG_INVALID', message, { hint: 'A rate is that of the whole task queue.' })
  }
}

function signatureOf(tool: Tool, codeNames: ReadonlyMap<string, string>, language: Language): ToolCallSignature {
  const parameters = parametersOf(tool.inputSchema)
  const name = codeNames.get(tool.name) ?? tool.name
  const { additionalProperties, patternProperties } = tool.inputSchema
  const isOpen = additionalProperties !== false || patternProperties !== undefined
  return {
    name,
    ...(name !== tool.name && { tool: tool.name }),
    parameters: parameters.map(({ name }) => name),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    ...(isOpen && { open: true }),
    documentation: renderStandaloneStub(tool, name, language),
    ...(language.runner.needsSchemas && { description: tool.description, schema: tool.inputSchema }),
  }
}
