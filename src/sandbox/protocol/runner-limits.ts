import { capturedCharacters, type StepLimits } from '../../common/run/limits.js'

/** Limits of one frame of a runner. */
export interface RunnerFrameLimits {
  readonly bytes: number
  /** Maximum bytes outside of strings. */
  readonly structuralBytes: number
}

/**
 * Bytes of new calls that the runner sends in one suspension (program/suspension.py), unless a single call is larger. A
 * single call has at most this many bytes outside of strings (program/tools.py).
 */
const maximumSuspensionBytes = 256 * 1024

/** The fields around arguments and output, and the text of an error. */
const slackBytes = 64 * 1024

/** Bytes that the runner reserves for a UTF-16 unit of its output (session.py): 6 for an escaped one, and a margin. */
const bytesPerCharacter = 8

/**
 * The largest frame that an honest runner needs: the calls of a suspension, and its output. It is smaller than a frame
 * of the host, because the worker parses it in one piece on its only thread. The limit of structural bytes, which make
 * parsing expensive, does not depend on the configuration.
 */
export function runnerFrameLimits({ argumentBytes }: Pick<StepLimits, 'argumentBytes'>): RunnerFrameLimits {
  const calls = Math.max(maximumSuspensionBytes, argumentBytes) + slackBytes
  const bytes = calls + bytesPerCharacter * capturedCharacters + slackBytes
  return { bytes, structuralBytes: maximumSuspensionBytes + slackBytes }
}
