import type { LostCause } from '../common/steps.js'
import type { SandboxEnd } from './backend.js'

/** What a runner exits with that was killed by SIGKILL, the kernel's way when memory is used up. */
export const killedExitCode = 137

const quotedCharacters = 200

/**
 * What a sandbox said, for a reason that the model reads: one line, cut, without control and formatting characters. It is
 * hostile, so it never makes up the whole of a reason.
 */
export function quoted(text: string): string {
  const head = text.slice(0, 2 * quotedCharacters)
  const line = head
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Surrogate}]/gu, '')
    .trim()
  return line.length <= quotedCharacters ? line : `${line.slice(0, quotedCharacters)}…`
}

/** What the end of a sandbox means for the step that was under way. */
export function causeOf(end: SandboxEnd): LostCause {
  return end.reason === 'out_of_memory' ? 'out_of_memory' : 'gone'
}

/** For people. */
export function reasonOf(end: SandboxEnd): string {
  if (end.reason === 'out_of_memory') return 'the sandbox ran out of memory'
  if (end.reason === 'disconnected') return 'the connection to the sandbox broke'
  const last = quoted(end.diagnostics.trim().split('\n').at(-1) ?? '')
  // The Docker daemon itself misses some of the kernel's kills for memory, on a busy machine one in forty.
  if (end.exitCode === killedExitCode && !last)
    return `the sandbox was killed (exit code ${killedExitCode}), perhaps for its memory`
  return `the sandbox ended with exit code ${end.exitCode ?? 'unknown'}${last ? `: ${last}` : ''}`
}
