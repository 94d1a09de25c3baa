import { PtcError } from '../common/errors.js'
import { backendNamePattern } from '../common/names.js'
import type { Limits } from '../common/run/limits.js'
import type { SandboxBackend } from './backend.js'

/** The argument that a worker passes to `create`. */
export interface BackendContext {
  /** The namespace of the sandbox ids. `ptc doctor` has none and passes `doctor`. */
  readonly namespace: string
  /** The configured limits; a session may have other limits. */
  readonly limits: Limits
  /** The configured language; a session may have another one. */
  readonly language: string
  /** Shows a line about a long operation. */
  readonly onProgress: (line: string) => void
}

/** A backend in the configuration: `sandbox: { backend: defineBackend({ … }) }`. */
export interface BackendDefinition {
  /** Must be equal to the `name` of the backend. It appears in histories, `ptc show` and `ptc sessions list`. */
  readonly name: string
  /** A notice for the user, as the end of a sentence: "code runs in …". */
  readonly notice?: string
  /** True when its sandboxes can have read-only files, as `files` of the backend says. Default: they can't. */
  readonly files?: true
  /** True when code in its sandboxes can have a network, as `network` of the backend says. Default: it can't. */
  readonly network?: true
  /** Called once when a worker starts. An error ends the start of the worker. */
  create(context: BackendContext): SandboxBackend | Promise<SandboxBackend>
}

const reservedNames = ['auto', 'docker', 'wasm', 'kubernetes', 'anthropic']

/** Validates the definition of a custom backend. @throws PtcError CONFIG_INVALID */
export function defineBackend(definition: BackendDefinition): BackendDefinition {
  const problem = definitionProblem(definition)
  if (problem !== undefined) throw new PtcError('CONFIG_INVALID', `invalid backend: ${problem}`)
  return definition
}

/** Returns whether {@link defineBackend} accepts this value. */
export function isBackendDefinition(value: unknown): value is BackendDefinition {
  return definitionProblem(value) === undefined
}

function definitionProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'it must be an object with a name and a function create'
  const { name, create } = value as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || !backendNamePattern.test(name)) {
    return 'its name must be at most 40 lower-case letters, digits and dashes, with a letter first'
  }
  if (reservedNames.includes(name)) return `the name ${name} is reserved`
  if (typeof create !== 'function') return `${name} has no function create`
  return undefined
}
