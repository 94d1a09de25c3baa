import type { JsonObject } from '../../common/json/json.js'
import type { CallingRun } from '../tool-context.js'

/** Pattern for names of credentials. They are in the definitions of tools, and in the markers that replace a value. */
export const credentialNamePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** The source of a credential's value. It is read for each call, in the process of the tool. */
export type CredentialSource =
  /** The environment variable with this name. */
  | { readonly environment: string }
  /** A file that contains only the value, relative to the configuration. A line break at its end is dropped. */
  | { readonly file: string }
  /** A program and its arguments, run without a shell. The program prints the value. */
  | { readonly command: readonly [string, ...string[]] }
  | CredentialFunction

/** Returns the value for one call, such as the key of its tenant. */
export type CredentialFunction = (request: CredentialRequest) => string | Promise<string>

/** The call that needs a credential. */
export interface CredentialRequest {
  /** Name of the credential. */
  readonly name: string
  readonly tool: string
  readonly run: CallingRun
  /** The `context` with which the run was started, such as user and tenant. `{}` for a run without one. */
  readonly context: JsonObject
  /** Aborted when the call is cancelled, or when the source takes longer than 10 seconds. */
  readonly signal: AbortSignal
}
