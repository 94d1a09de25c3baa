import type { LostCause } from '../common/session/steps.js'
import type { SandboxEnd } from './backend.js'
import { takeStart, truncateEnd } from '../common/text/text.js'

/** Exit code of a process killed by SIGKILL (128 + 9), as the kernel does when memory runs out. */
export const sigkillExitCode = 137

/** Exit code of a process ended by SIGTERM (128 + 15), for example by an administrator or a system that shuts down. */
const sigtermExitCode = 143

/**
 * Exit code of a sandbox that ended by itself, because no worker lived (runner/image/supervisor.c). Code can also exit
 * with it.
 */
export const orphanedExitCode = 124

/**
 * Exit code of containers that ran before a restart of the daemon or a reboot of the host. Code can also exit with it.
 */
const interruptedExitCode = 255

const maximumQuoteCharacters = 200

/**
 * Quotes text of a sandbox in a reason that the model reads: one line, truncated, without control and formatting
 * characters. The text is untrusted, so it must be only a part of the reason.
 */
export function quoteUntrusted(text: string): string {
  const head = takeStart(text, 2 * maximumQuoteCharacters)
  const line = head
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Surrogate}]/gu, '')
    .trim()
  return truncateEnd(line, maximumQuoteCharacters)
}

/** Returns the cause with which a pending step is lost when the sandbox ends. */
export function lostCause(end: SandboxEnd): LostCause {
  if (end.reason === 'out_of_memory') return 'out_of_memory'
  return isOwnExit(end) ? 'exited' : 'gone'
}

/** Returns whether the program itself has ended its process. */
function isOwnExit({ reason, exitCode, diagnostics }: SandboxEnd): boolean {
  if (reason !== 'exited' || exitCode === null) return false
  const othersCodes = [sigkillExitCode, sigtermExitCode, orphanedExitCode, interruptedExitCode]
  return !othersCodes.includes(exitCode) || embeddedExit.test(diagnostics)
}

/** Matches the output of the embedded interpreter (runner/wasm/main.mjs) when the program has ended it. */
const embeddedExit = /the interpreter ended: Exit: Program terminated with exit\(\d+\)\s*$/
const embeddedOverflow = /the interpreter ended: RangeError: Maximum call stack size exceeded\s*$/

/** Returns the reason for people. */
export function lostReason(end: SandboxEnd): string {
  if (end.reason === 'out_of_memory') return 'the sandbox ran out of memory'
  if (end.reason === 'disconnected') return 'the connection to the sandbox broke'
  if (end.reason === 'replaced') return 'another worker has taken over the sandbox'
  const lastLine = quoteUntrusted(end.diagnostics.trim().split('\n').at(-1) ?? '')
  if (isOwnExit(end) && embeddedOverflow.test(end.diagnostics))
    return 'the code used up the stack of its interpreter: it calls itself too deeply'
  if (isOwnExit(end) && (!lastLine || embeddedExit.test(end.diagnostics))) return describeOwnExit(end.exitCode ?? 0)
  // The Docker daemon does not report every kill by the kernel for memory: on a busy machine it misses one of forty.
  if (end.exitCode === sigkillExitCode && !lastLine)
    return `the sandbox was killed (exit code ${sigkillExitCode}), perhaps for its memory`
  return `the sandbox ended with exit code ${end.exitCode ?? 'unknown'}${lastLine ? `: ${lastLine}` : ''}`
}

function describeOwnExit(exitCode: number): string {
  if (exitCode > 128) return `the code crashed its process (signal ${exitCode - 128})`
  return `the code ended its process with exit code ${exitCode}, as os._exit() does; exit() ends only the cell`
}
