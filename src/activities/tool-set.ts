import type { JsonValue } from '../common/json.js'
import type { ToolSet } from '../common/plan.js'
import type { SessionTools } from '../common/steps.js'
import type { Held } from '../common/values.js'
import type { ToolDocumentation } from '../tools/documentation.js'
import type { ToolCallSignature, ToolRegistry } from '../tools/registry.js'
import type { Values } from '../values/values.js'

/** The tools of this worker, as a run that begins now records them. */
export async function recordToolSet(registry: ToolRegistry, values: Values, signal: AbortSignal): Promise<ToolSet> {
  const hold = (list: readonly object[]): Promise<Held> => values.hold(list as unknown as JsonValue, signal)
  const [documentation, signatures] = await Promise.all([hold(registry.documentation()), hold(registry.signatures())])
  return { digest: registry.digest, documentation, signatures }
}

/** True when the run began with the tools of this registry. A run from before tools were recorded counts as such. */
export function isRunsRegistry(registry: ToolRegistry, tools: Pick<ToolSet, 'digest'> | undefined): boolean {
  return tools === undefined || tools.digest === registry.digest
}

/**
 * What the model of a run is told of its tools.
 *
 * @throws PtcError VALUE_MISSING and others of the value store, when this worker has other tools than the run
 */
export async function documentationOf(
  tools: Pick<ToolSet, 'digest' | 'documentation'> | undefined,
  registry: ToolRegistry,
  values: Values,
  signal: AbortSignal,
): Promise<readonly ToolDocumentation[]> {
  if (tools === undefined || isRunsRegistry(registry, tools)) return registry.documentation()
  const loaded = await values.load(tools.documentation, neededBy, signal)
  return loaded as unknown as readonly ToolDocumentation[]
}

/**
 * The stubs that the sandbox of a run gets; undefined when it has them already, or the run has recorded none.
 *
 * @throws PtcError as {@link documentationOf}
 */
export async function signaturesOf(
  tools: SessionTools | undefined,
  registry: ToolRegistry,
  values: Values,
  signal: AbortSignal,
): Promise<readonly ToolCallSignature[] | undefined> {
  if (tools?.signatures === undefined) return undefined
  if (isRunsRegistry(registry, tools)) return registry.signatures()
  const loaded = await values.load(tools.signatures, neededBy, signal)
  return loaded as unknown as readonly ToolCallSignature[]
}

const neededBy = 'the tools of the run'
