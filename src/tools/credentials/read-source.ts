import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { raceWithSignal } from '../../common/async/abort.js'
import { rejectOnUncaught } from '../../common/async/uncaught-errors.js'
import { PtcError } from '../../common/errors.js'
import { decodeText } from '../../common/text/decode-text.js'
import type { CredentialRequest, CredentialSource } from './credential-source.js'

/** Maximum bytes of a value. */
const maxBytes = 64 * 1024

/**
 * Why a source has no value. The message goes into the history, so it has no value, no path, and no output of the
 * source.
 */
export class SourceError extends Error {}

/**
 * Reads the current value of a source.
 *
 * @throws SourceError; the reason of the signal
 */
export async function readSource(
  source: CredentialSource,
  request: Omit<CredentialRequest, 'signal'>,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted()
  if (typeof source === 'function') return callFunction(source, { ...request, signal })
  if ('environment' in source) return readVariable(source.environment)
  if ('file' in source) return readFileOf(source.file)
  return runCommand(source.command, signal)
}

async function callFunction(
  source: Extract<CredentialSource, (...args: never) => unknown>,
  request: CredentialRequest,
): Promise<string> {
  const { signal } = request
  try {
    // A function that ignores its signal does not delay the caller.
    const work = { name: `the source of credential ${request.name}`, redact: () => 'its text may have the value' }
    const value: unknown = await raceWithSignal(
      signal,
      rejectOnUncaught(work, () => source(request)),
    )
    if (typeof value === 'string') return value
  } catch (thrown) {
    signal.throwIfAborted()
    throw new SourceError(`its function threw ${describeKind(thrown)}`)
  }
  throw new SourceError('its function did not return a text')
}

function readVariable(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new SourceError(`the environment variable ${name} is not set`)
  return value
}

async function readFileOf(path: string): Promise<string> {
  let content: string
  try {
    // A pipe could block without a limit.
    if (!(await stat(path)).isFile()) throw new SourceError('its path is not that of a file')
    content = decodeText(await readFile(path), 'its file', 'CREDENTIAL_UNAVAILABLE')
  } catch (thrown) {
    if (thrown instanceof SourceError) throw thrown
    if (PtcError.isInstance(thrown)) throw new SourceError(thrown.message)
    throw new SourceError(`its file can't be read: ${describeKind(thrown)}`)
  }
  if (Buffer.byteLength(content) > maxBytes) throw new SourceError(`its file is over ${maxBytes} bytes`)
  return withoutLineBreak(content)
}

/** Drops what the command writes to stderr, because it may be the value. */
function runCommand([program, ...args]: readonly [string, ...string[]], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { signal, maxBuffer: maxBytes, encoding: 'utf8', windowsHide: true, killSignal: 'SIGKILL' } as const
    const child = execFile(program, args, options, (error, stdout) => {
      if (error === null) resolve(withoutLineBreak(stdout))
      else if (signal.aborted) reject(signal.reason)
      else if (typeof error.code === 'number') reject(new SourceError(`its command ended with exit code ${error.code}`))
      else reject(new SourceError(`its command failed: ${error.signal ?? describeKind(error)}`))
    })
    // A command that reads its input gets its end at once.
    child.stdin?.on('error', () => undefined).end()
  })
}

function withoutLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '')
}

/** The code of a system error, or the class of the error. A message could contain the value. */
function describeKind(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'a value that is not an error'
  const code: unknown = 'code' in thrown ? thrown.code : undefined
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code
  const { name } = thrown.constructor
  return /^[A-Za-z][A-Za-z0-9]{0,60}$/.test(name) ? name : 'an error'
}
