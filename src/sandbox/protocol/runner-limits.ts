import type { StepLimits } from '../../common/limits.js'

/** What one frame of a runner may have. */
export interface RunnerFrameLimits {
  readonly bytes: number
  /** Of them, outside of strings. */
  readonly structure: number
}

/**
 * Of new calls that the runner puts into one suspension (suspension.py), unless a single one is larger; that one has no
 * more than this outside of strings (tools.py).
 */
const suspensionBytes = 256 * 1024

/** The fields around arguments and output, and the text of an error. */
const slackBytes = 64 * 1024

/** That the runner keeps free for a character of its output (session.py): 12 for one beyond U+FFFF, and some. */
const bytesPerCharacter = 16

/**
 * The largest frame an honest runner needs: the calls of a suspension, and its output. Less than what the host may send,
 * because whatever arrives is read in one piece on the worker's only thread. What makes reading expensive is the same under
 * every limit.
 */
export function runnerFrameLimits(
  limits: Pick<StepLimits, 'argumentBytes' | 'capturedCharacters' | 'frameBytes'>,
): RunnerFrameLimits {
  const calls = Math.max(suspensionBytes, limits.argumentBytes) + slackBytes
  const bytes = calls + bytesPerCharacter * limits.capturedCharacters + slackBytes
  return { bytes: Math.min(limits.frameBytes, bytes), structure: suspensionBytes + slackBytes }
}
