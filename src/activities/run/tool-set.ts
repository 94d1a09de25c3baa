import { PtcError } from '../../common/errors.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { ClientTool } from '../../common/calls/client-tools.js'
import type { ToolSet, ToolSetId } from '../../common/run/run-config.js'
import type { SessionTools } from '../../common/session/session.js'
import { type Externalizable, externalValue } from '../../common/json/external-value.js'
import { clientRegistry } from '../../tools/sources/client-tools.js'
import type { ToolDocumentation } from '../../tools/documentation/document-tools.js'
import type { ToolCallSignature, ToolRegistry } from '../../tools/registry.js'
import type { Values } from '../../values/values.js'

/**
 * Returns the tools of this worker, which a new run records.
 *
 * @param origin names of the tools, if the worker has others; or the client tools from which they are made
 */
export async function recordToolSet(
  registry: ToolRegistry,
  values: Values,
  signal: AbortSignal,
  origin: { readonly names?: readonly string[]; readonly clientTools?: readonly ClientTool[] } = {},
): Promise<ToolSet> {
  const { names, clientTools } = origin
  const externalize = (part: object): Promise<Externalizable> =>
    values.externalize(part as unknown as JsonValue, signal)
  const schemas = registry.outputSchemas()
  const hasSchemas = Object.keys(schemas).length > 0
  const [documentation, signatures, outputSchemas] = await Promise.all([
    externalize(registry.documentation()),
    externalize(registry.signatures()),
    // The schemas are always a reference, because the input of each `tool.result` contains it.
    hasSchemas ? values.store(schemas, signal).then(externalValue) : undefined,
  ])
  return {
    digest: registry.digest,
    documentation,
    signatures,
    ...(outputSchemas && { outputSchemas }),
    ...(names && { names }),
    ...(clientTools && { clientTools: await externalize(clientTools) }),
  }
}

/** The tools of a run on this worker, and whether the run recorded the same ones. */
export interface RunTools {
  readonly registry: ToolRegistry
  readonly registryMatchesRun: boolean
}

/** Returns the tools of a run on this worker; all tools of the worker if the run recorded other ones. */
export function findRunTools(registry: ToolRegistry, { digest, names }: ToolSetId): RunTools {
  const own = names === undefined ? registry : subsetOf(registry, names)
  return own?.digest === digest ? { registry: own, registryMatchesRun: true } : { registry, registryMatchesRun: false }
}

/**
 * Like {@link findRunTools}, for a run that may have client tools: they are in the payload or the value store.
 *
 * @throws PtcError of {@link loadDocumentation}
 */
export async function loadRunTools(
  registry: ToolRegistry,
  tools: ToolSetId,
  values: Values,
  signal: AbortSignal,
): Promise<RunTools> {
  if (tools.clientTools === undefined) return findRunTools(registry, tools)
  const made = clientRegistries.get(registry) ?? new Map<string, ToolRegistry>()
  clientRegistries.set(registry, made)
  const known = made.get(tools.digest)
  if (known) return { registry: known, registryMatchesRun: true }
  const loaded = await values.load(tools.clientTools, neededBy, signal)
  const own = clientRegistry(loaded as unknown as readonly ClientTool[], registry.redact)
  const [oldest] = made.keys()
  if (made.size >= maxClientRegistries && oldest !== undefined) made.delete(oldest)
  made.set(tools.digest, own)
  return { registry: own, registryMatchesRun: true }
}

/**
 * The registries of client tools of each worker, by digest. Each turn and step of a conversation needs the same
 * registry.
 */
const clientRegistries = new WeakMap<ToolRegistry, Map<string, ToolRegistry>>()
const maxClientRegistries = 100

/** Returns undefined when a tool is missing, because the run began with another configuration. */
function subsetOf(registry: ToolRegistry, names: readonly string[]): ToolRegistry | undefined {
  try {
    return registry.subset(names)
  } catch (thrown) {
    if (PtcError.isInstance(thrown)) return undefined
    throw thrown
  }
}

/**
 * Returns the documentation of the run's tools. It is loaded from the value store only if this worker has other tools.
 *
 * @throws PtcError VALUE_MISSING and others of the value store
 */
export async function loadDocumentation(
  tools: ToolSetId & Pick<ToolSet, 'documentation'>,
  registry: ToolRegistry,
  values: Values,
  signal: AbortSignal,
): Promise<readonly ToolDocumentation[]> {
  const own = findRunTools(registry, tools)
  if (own.registryMatchesRun) return own.registry.documentation()
  const loaded = await values.load(tools.documentation, neededBy, signal)
  return loaded as unknown as readonly ToolDocumentation[]
}

/**
 * Returns the signatures of the run's tools for the stubs in its sandbox; undefined when the sandbox has the stubs.
 *
 * @throws PtcError of {@link loadDocumentation}
 */
export async function loadSignatures(
  tools: SessionTools,
  registry: ToolRegistry,
  values: Values,
  signal: AbortSignal,
): Promise<readonly ToolCallSignature[] | undefined> {
  if (tools.signatures === undefined) return undefined
  const own = findRunTools(registry, tools)
  if (own.registryMatchesRun) return own.registry.signatures()
  const loaded = await values.load(tools.signatures, neededBy, signal)
  return loaded as unknown as readonly ToolCallSignature[]
}

/**
 * Returns the JSON Schema of a tool's result, as the run recorded it; undefined when there is none.
 *
 * @throws PtcError of {@link loadDocumentation}
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
