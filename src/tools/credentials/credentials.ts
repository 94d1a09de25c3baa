/*
 * Credentials: secret values that tools need. A tool declares names; the configuration has the source of each value.
 *
 * Owns: reading the values for one attempt of a call, in the process of the tool, and redacting them from the output of
 * the tool.
 * Boundary: a value reaches the `run` of a tool only by `context.credential(name)`. No code here writes a value to the
 * history, a prompt, a sandbox, a log, an error or the audit log.
 *
 * Invariants:
 * 1. The values are read before `run` is called. When a value can't be read, the call has had no effect.
 * 2. An error names the missing credential, and never contains a value or output of its source.
 * 3. A value has at least 8 characters, so that it can be told from other text, and redacted.
 * 4. The output of a command is kept for 30 seconds for first attempts, and read again for a second one. Every other
 *    source is read for each attempt.
 */

import { withTimeLimit } from '../../common/async/abort.js'
import { PtcError } from '../../common/errors.js'
import { formatDuration } from '../../common/text/duration.js'
import type { CredentialRequest, CredentialSource } from './credential-source.js'
import { readSource, SourceError } from './read-source.js'
import { Redactor } from './redactor.js'

const timeoutMs = 10_000
const minCharacters = 8
const commandCacheMs = 30_000

type SourceRequest = Omit<CredentialRequest, 'name' | 'signal'>

/** The run of a value that no call needs: for a check, or for a connection that many calls share. */
export const noRun: Pick<SourceRequest, 'run' | 'context'> = {
  run: { namespace: '', workflowId: '', runId: '', agent: undefined },
  context: {},
}

/** The values for one attempt of a call. */
export interface CallCredentials {
  /** Values by name. */
  readonly values: ReadonlyMap<string, string>
  readonly redactor: Redactor
}

/** The result of checking a source without a call. A function is not called, because it needs a call. */
export type SourceCheck =
  | { readonly type: 'available' | 'not_checked' }
  | { readonly type: 'missing'; readonly reason: string }

/** The credentials of a configuration; see the header. */
export class Credentials {
  readonly #sources: ReadonlyMap<string, CredentialSource>
  readonly #printed = new Map<string, { readonly value: Promise<string>; readonly until: number }>()

  constructor(sources: Readonly<Record<string, CredentialSource>> = {}) {
    this.#sources = new Map(Object.entries(sources))
  }

  get names(): readonly string[] {
    return [...this.#sources.keys()]
  }

  /**
   * Reads the values for one attempt of a call.
   *
   * @throws PtcError CREDENTIAL_UNAVAILABLE; the reason of the signal
   */
  async resolve(
    names: readonly string[],
    request: SourceRequest,
    attempt: number,
    signal: AbortSignal,
  ): Promise<CallCredentials> {
    const entries = await Promise.all(
      names.map(async (name) => [name, await this.#resolve(name, request, attempt, signal)] as const),
    )
    const values = new Map(entries)
    return { values, redactor: new Redactor(values) }
  }

  /** Whether a source has a value. Never rejects, and reveals nothing about the value. */
  async check(name: string): Promise<SourceCheck> {
    const source = this.#sources.get(name)
    if (typeof source === 'function') return { type: 'not_checked' }
    try {
      await this.#resolve(name, { tool: '', ...noRun }, 2, new AbortController().signal)
      return { type: 'available' }
    } catch (thrown) {
      return { type: 'missing', reason: PtcError.isInstance(thrown) ? thrown.message : 'it could not be read' }
    }
  }

  async #resolve(name: string, request: SourceRequest, attempt: number, signal: AbortSignal): Promise<string> {
    const source = this.#sources.get(name)
    if (source === undefined) throw unavailable(name, 'the configuration has no source for it')
    try {
      const value = await this.#read(source, { ...request, name }, attempt, signal)
      const characters = value.length
      if (characters >= minCharacters) return value
      throw new SourceError(`it has ${characters} characters, and needs at least ${minCharacters}`)
    } catch (thrown) {
      signal.throwIfAborted()
      throw unavailable(name, thrown instanceof SourceError ? thrown.message : 'it could not be read')
    }
  }

  #read(
    source: CredentialSource,
    request: Omit<CredentialRequest, 'signal'>,
    attempt: number,
    signal: AbortSignal,
  ): Promise<string> {
    if (typeof source === 'function' || !('command' in source)) return readInTime(source, request, signal)
    const { name } = request
    const kept = this.#printed.get(name)
    if (kept && attempt === 1 && performance.now() < kept.until) return kept.value
    // Calls share the command, so no single call may cancel it.
    const value = readInTime(source, request, new AbortController().signal)
    this.#printed.set(name, { value, until: performance.now() + commandCacheMs })
    value.catch(() => {
      if (this.#printed.get(name)?.value === value) this.#printed.delete(name)
    })
    return value
  }
}

/** @throws SourceError; the reason of the signal */
async function readInTime(
  source: CredentialSource,
  request: Omit<CredentialRequest, 'signal'>,
  signal: AbortSignal,
): Promise<string> {
  return withTimeLimit(signal, timeoutMs, async (limited) => {
    try {
      return await readSource(source, request, limited)
    } catch (thrown) {
      const isOver = limited.aborted && !signal.aborted
      throw isOver ? new SourceError(`its source took over ${formatDuration(timeoutMs)}`) : thrown
    }
  })
}

function unavailable(name: string, reason: string): PtcError {
  return new PtcError('CREDENTIAL_UNAVAILABLE', `credential ${name} is not available: ${reason}`)
}
