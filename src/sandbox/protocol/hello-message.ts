import { capturedCharacters, type StepLimits } from '../../common/run/limits.js'
import { type Fence, type HostMessage, protocolVersion, type ToolSignature } from './messages.js'
import { runnerFrameLimits } from './runner-limits.js'

/** The data of a session for its runner. */
export interface SessionInfo {
  readonly session: string
  /** Seed of the program's random numbers. */
  readonly seed: number
  /** The start of the session, in milliseconds since 1970. The clock of its programs begins at this time. */
  readonly startedAt: number
  readonly tools: readonly ToolSignature[]
  readonly limits: StepLimits
}

export function helloMessage({ session, seed, startedAt, tools, limits }: SessionInfo, fence: Fence): HostMessage {
  return {
    type: 'hello',
    protocol: protocolVersion,
    fence,
    session,
    seed,
    started_at: startedAt,
    tools,
    limits: {
      cell_seconds: limits.cellSeconds,
      calls_per_cell: limits.callsPerCell,
      captured_characters: capturedCharacters,
      frame_bytes: runnerFrameLimits(limits).bytes,
      argument_bytes: limits.argumentBytes,
      memory_bytes: limits.memoryBytes,
    },
  }
}
