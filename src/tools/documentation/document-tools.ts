import { z } from 'zod'
import type { Caller, Effect } from '../../common/calls/calls.js'
import { defined } from '../../common/defined.js'
import { type NativeToolType, nativeTools } from '../../common/agent/native-tools.js'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import { defaultLanguage, type Language } from '../../languages/index.js'
import { namesForCode } from '../tool-name.js'
import type { Tool } from '../tool.js'

/** The documentation of a tool for the model. */
export interface ToolDocumentation {
  readonly name: string
  /** The name of the function in code. Absent: the name of the tool. */
  readonly codeName?: string
  readonly description: string
  readonly allowedCallers: readonly Caller[]
  /**
   * The callers that are told of the tool, each in its own form: the model gets a JSON Schema, its code a
   * function.
   */
  readonly offeredTo: readonly Caller[]
  /** Arguments, as JSON Schema with `type: 'object'`. */
  readonly inputSchema: JsonObject
  /** The type by which the Messages API knows the tool. Absent: none. */
  readonly nativeType?: NativeToolType
  /** Absent: unknown, because an earlier version has recorded the documentation. */
  readonly effect?: Effect
  /** The defaults of the schema are documentation. Absent: they are added to the arguments. */
  readonly documentsDefaults?: true
  readonly inputExamples: readonly JsonObject[]
  /**
   * The tool as a function in the language of code, with types and documentation. The stubs of a list belong together
   * in order: a shared type is declared in the first stub that needs it.
   */
  readonly stub: string
  /** The stub without its documentation. */
  readonly signature: string
}

const jsonObject = z.custom<JsonObject>(isJsonObject, 'not an object')
const callers = z.array(z.enum(['direct', 'code_execution']))

/** Accepts a recorded {@link ToolDocumentation}. */
export const toolDocumentationSchema: z.ZodType<ToolDocumentation> = z.object({
  name: z.string(),
  codeName: z.string().exactOptional(),
  description: z.string(),
  allowedCallers: callers,
  offeredTo: callers,
  inputSchema: jsonObject,
  effect: z.enum(['read', 'idempotent', 'once']).exactOptional(),
  documentsDefaults: z.literal(true).exactOptional(),
  nativeType: z.enum(Object.keys(nativeTools) as NativeToolType[]).exactOptional(),
  inputExamples: z.array(jsonObject),
  stub: z.string(),
  signature: z.string(),
})

/**
 * The documentation of several tools, in their order.
 *
 * @param knownCodeNames names of functions in code, by the names of the tools
 */
export function documentTools(
  tools: readonly Tool[],
  knownCodeNames?: ReadonlyMap<string, string>,
  language: Language = defaultLanguage,
): readonly ToolDocumentation[] {
  const codeNames =
    knownCodeNames ??
    namesForCode(
      tools.map(({ name }) => name),
      language,
    )
  const document = language.documentTools()
  return tools.map((tool) => ({
    name: tool.name,
    ...(codeNames.get(tool.name) !== tool.name && { codeName: codeNames.get(tool.name) ?? tool.name }),
    description: tool.description,
    allowedCallers: tool.allowedCallers,
    offeredTo: tool.offeredTo,
    inputSchema: tool.inputSchema,
    effect: tool.effect,
    ...(tool.documentsDefaults && { documentsDefaults: true }),
    ...defined({ nativeType: tool.nativeType }),
    inputExamples: tool.inputExamples,
    // Code never gets the stub of a tool that it can't call, so that stub must not declare shared types.
    ...(tool.allowedCallers.includes('code_execution') ? document : language.documentTools())(
      tool,
      codeNames.get(tool.name),
    ),
  }))
}

/** A stub that declares all types it needs. */
export function renderStandaloneStub(tool: Tool, codeName?: string, language: Language = defaultLanguage): string {
  return language.documentTools()(tool, codeName).stub
}
