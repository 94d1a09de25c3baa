import type { JsonObject } from '../../common/json/json.js'
import type { CallingRun } from '../tool.js'

/** Names of credentials: they are in the definitions of tools, and in the markers that replace a value. */
export const credentialNamePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** Where the value of a credential comes from. It is read for each call, where the tool runs. */
export type CredentialSource =
  /** The environment variable of this name. */
  | { readonly environment: string }
  /** A file with nothing but the value, relative to the configuration. A line break at its end is dropped. */
  | { readonly file: string }
  /** A program and its arguments, without a shell. It prints the value. */
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
  /** The `context` that the run was started with, such as user and tenant. `{}` for a run without one. */
  readonly context: JsonObject
  /** Aborted when the call is cancelled, or the source takes over 10 seconds. */
  readonly signal: AbortSignal
}
