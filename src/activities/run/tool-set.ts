import type { JsonObject, JsonValue } from '../../common/json.js'
import type { ToolSet } from '../../common/run-config.js'
import type { SessionTools } from '../../common/session.js'
import { type Externalizable, externalValue } from '../../common/external-value.js'
import type { ToolDocumentation } from '../../tools/documentation.js'
import type { ToolCallSignature, ToolRegistry } from '../../tools/registry.js'
import type { Values } from '../../values/values.js'

/** The tools of this worker, for a new run to record. */
export async function recordToolSet(registry: ToolRegistry, values: Values, signal: AbortSignal): Promise<ToolSet> {
  const externalize = (part: object): Promise<Externalizable> =>
    values.externalize(part as unknown as JsonValue, signal)
  const [documentation, signatures, outputSchemas] = await Promise.all([
    externalize(registry.documentation()),
    externalize(registry.signatures()),
    // Always by reference: each `tool.result` has it in its input.
    values.store(registry.outputSchemas(), signal).then(externalValue),
  ])
  return { digest: registry.digest, documentation, signatures, outputSchemas }
}

/** True when the run recorded the tools of this registry. */
export function matchesToolSet(registry: ToolRegistry, tools: Pick<ToolSet, 'digest'>): boolean {
  return tools.digest === registry.digest
}

/**
 * The documentation of the run's tools. Loaded from the value store only if this worker has other tools.
 *
 * @throws PtcError VALUE_MISSING and others of the value store
 */
export async function loadDocumentation(
  tools: Pick<ToolSet, 'digest' | 'documentation'>,
  registry: ToolRegistry,
  values: Values,
  signal: AbortSignal,
): Promise<readonly ToolDocumentation[]> {
  if (matchesToolSet(registry, tools)) return registry.documentation()
  const loaded = await values.load(tools.documentation, neededBy, signal)
  return loaded as unknown as readonly ToolDocumentation[]
}

/**
 * The signatures of the run's tools, for the stubs in its sandbox; undefined when the sandbox has its stubs.
 *
 * @throws PtcError as {@link loadDocumentation}
 */
export async function loadSignatures(
  tools: SessionTools,
  registry: ToolRegistry,
  values: Values,
  signal: AbortSignal,
): Promise<readonly ToolCallSignature[] | undefined> {
  if (tools.signatures === undefined) return undefined
  if (matchesToolSet(registry, tools)) return registry.signatures()
  const loaded = await values.load(tools.signatures, neededBy, signal)
  return loaded as unknown as readonly ToolCallSignature[]
}

/**
 * The JSON Schema of a tool's result, as the run recorded it; undefined when it has none.
 *
 * @throws PtcError as {@link loadDocumentation}
 */
export async function loadOutputSchema(
  tool: string,
  { outputSchemas = {} }: Pick<ToolSet, 'outputSchemas'>,
  values: Values,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const loaded = await values.load(outputSchemas, neededBy, signal)
  return (loaded as Readonly<Record<string, JsonObject>>)[tool]
}

const neededBy = 'the tools of the run'
