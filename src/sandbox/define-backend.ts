import { PtcError } from '../common/errors.js'
import type { Limits } from '../common/limits.js'
import type { SandboxBackend } from './backend.js'

/** What a backend is told when a worker starts it. */
export interface BackendContext {
  /** Whose sandboxes it will make: the namespace of their ids. `ptc doctor` has none and says `doctor`. */
  readonly namespace: string
  /** The configured limits; a session may come with others. */
  readonly limits: Limits
  /** Tells a person what takes time, a line each. */
  readonly onProgress: (line: string) => void
}

/** A backend that a configuration brings: `sandbox: { backend: defineBackend({ … }) }`. */
export interface BackendDefinition {
  /** The backend's own name too: it is in histories, in `ptc show` and in `ptc sessions list`. */
  readonly name: string
  /** What the user should know, as the end of a sentence: "code runs in …". */
  readonly notice?: string
  /** Called once a worker, when it starts. What it throws ends the worker's start. */
  create(context: BackendContext): SandboxBackend | Promise<SandboxBackend>
}

const taken = ['auto', 'docker', 'wasm']
const namePattern = /^[a-z][a-z0-9-]{0,39}$/

/** Types and checks a backend of your own. @throws PtcError CONFIG_INVALID */
export function defineBackend(definition: BackendDefinition): BackendDefinition {
  const problem = problemOf(definition)
  if (problem !== undefined) throw new PtcError('CONFIG_INVALID', `this is no backend: ${problem}`)
  return definition
}

/** Is this what {@link defineBackend} takes? */
export function isBackendDefinition(value: unknown): value is BackendDefinition {
  return problemOf(value) === undefined
}

function problemOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'it must be an object with a name and a function create'
  const { name, create } = value as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || !namePattern.test(name)) {
    return 'its name must be at most 40 lower-case letters, digits and dashes, with a letter first'
  }
  if (taken.includes(name)) return `the name ${name} is taken`
  if (typeof create !== 'function') return `${name} has no function create`
  return undefined
}
