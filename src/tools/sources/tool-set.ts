import { z } from 'zod'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { defaultLanguageName } from '../../common/names.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import type { RecordedToolSource, ToolSet, ToolSetId } from '../../common/run/run-config.js'
import type { SessionTools } from '../../common/session/session.js'
import { type Externalizable, externalValue } from '../../common/json/external-value.js'
import { clientRegistry, clientToolSchema } from './client-tools.js'
import { type ToolDocumentation, toolDocumentationSchema } from '../documentation/document-tools.js'
import { type ToolCallSignature, toolCallSignatureSchema, type ToolRegistry } from '../registry.js'
import type { Redact } from '../../common/text/redact.js'
import { describeIssues } from '../validation/describe-issues.js'
import type { Values } from '../../values/values.js'

/** How a worker finds the tools of a run again, if they are not all tools of its configuration. */
export interface ToolSetOrigin {
  /** The names of the tools of the configuration. */
  readonly names?: readonly string[]
  /** The source of the run's own tools. */
  readonly source?: { readonly kind: RecordedToolSource['kind']; readonly definition: object }
}

/** The sources that a run may have of its own: each lists tools from what the run recorded. */
const recordedSources: {
  readonly [Kind in RecordedToolSource['kind']]: (definition: JsonValue, redact: Redact) => ToolRegistry
} = {
  client: (definition, redact) => clientRegistry(parseStored(clientToolSchema, definition), redact),
}

/** Records tools for a new run. */
export async function recordToolSet(
  registry: ToolRegistry,
  values: Values,
  signal: AbortSignal,
  { names, source }: ToolSetOrigin = {},
): Promise<ToolSet> {
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
    ...defined({ outputSchemas, names }),
    ...(registry.language !== defaultLanguageName && { language: registry.language }),
    ...(source && { source: { kind: source.kind, definition: await externalize(source.definition) } }),
  }
}

/** The tools of a run on this worker, and whether the run recorded the same ones. */
export interface RunTools {
  readonly registry: ToolRegistry
  readonly registryMatchesRun: boolean
}

/** Returns the tools of a run on this worker; all tools of the worker if the run recorded other ones. */
export function findRunTools(registry: ToolRegistry, id: ToolSetId): RunTools {
  for (const known of [registry.current, ...registry.earlier]) {
    const own = registryOf(known, id)
    if (own?.digest === id.digest) return { registry: own, registryMatchesRun: true }
  }
  return { registry, registryMatchesRun: false }
}

/**
 * Like {@link findRunTools}, for a run that may have a source of its own.
 *
 * @throws PtcError of {@link loadDocumentation}
 */
export async function loadRunTools(
  registry: ToolRegistry,
  tools: ToolSetId,
  values: Values,
  signal: AbortSignal,
): Promise<RunTools> {
  if (tools.source === undefined) return findRunTools(registry, tools)
  const listed = registriesOfRuns.get(registry) ?? new Map<string, ToolRegistry>()
  registriesOfRuns.set(registry, listed)
  const known = listed.get(tools.digest)
  if (known) return { registry: known, registryMatchesRun: true }
  const { kind, definition } = tools.source
  const listedTools = recordedSources[kind](await values.load(definition, neededBy, signal), registry.redact)
  const own = listedTools.inLanguage(tools.language ?? defaultLanguageName)
  const [oldest] = listed.keys()
  if (listed.size >= maxRegistriesOfRuns && oldest !== undefined) listed.delete(oldest)
  listed.set(tools.digest, own)
  return { registry: own, registryMatchesRun: true }
}

/** The registries of runs with a source of their own, by worker and digest: each turn and step needs the same one. */
const registriesOfRuns = new WeakMap<ToolRegistry, Map<string, ToolRegistry>>()
const maxRegistriesOfRuns = 100

/**
 * Returns undefined when a tool is missing, because the run began with another configuration, or the language, because
 * the run began on a later version.
 */
function registryOf(registry: ToolRegistry, { names, language }: ToolSetId): ToolRegistry | undefined {
  try {
    const all = registry.inLanguage(language ?? defaultLanguageName)
    return names === undefined ? all : all.subset(names)
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
  const { registry: own, registryMatchesRun } = findRunTools(registry, tools)
  return registryMatchesRun
    ? own.documentation()
    : parseStored(toolDocumentationSchema, await values.load(tools.documentation, neededBy, signal))
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
  const { registry: own, registryMatchesRun } = findRunTools(registry, tools)
  return registryMatchesRun
    ? own.signatures()
    : parseStored(toolCallSignatureSchema, await values.load(tools.signatures, neededBy, signal))
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
  const schemas = await values.load(outputSchemas, neededBy, signal)
  const schema = isJsonObject(schemas) && Object.hasOwn(schemas, tool) ? schemas[tool] : undefined
  return isJsonObject(schema) ? schema : undefined
}

const neededBy = 'the tools of the run'

/** @throws PtcError VALUE_CORRUPT */
function parseStored<Part>(part: z.ZodType<Part>, stored: JsonValue): readonly Part[] {
  const { data, error } = z.array(part).safeParse(stored)
  if (data) return data
  throw new PtcError('VALUE_CORRUPT', `${neededBy} are not readable:\n${describeIssues(error)}`)
}
