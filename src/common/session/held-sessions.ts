/*
 * Sandboxes that an agent has besides its own. Each is a named session that only one run uses: it starts with the first
 * cell that names it, and ends with the run.
 */
import { outputFolder } from '../files/files.js'
import type { Externalizable } from '../json/external-value.js'
import type { NetworkOption } from '../run/network.js'
import type { BackendChoice } from '../run/run-config.js'
import type { ImageChoice, SandboxContents } from '../run/sandbox-image.js'

/** A further sandbox of a run, as its configuration records it. */
export interface HeldSession {
  /** The name by which cells choose it. */
  readonly name: string
  /** Has the meaning of the same member of `RunConfig`. */
  readonly language: string
  /** Undefined: as the host chooses. */
  readonly sandbox?: BackendChoice
  /** Undefined: as its host is configured. */
  readonly image?: ImageChoice
  /** Undefined: as configured. */
  readonly network?: NetworkOption | false
  /** Describes the hosts that its code may reach. Undefined: none. */
  readonly networkDescription?: string
  /** What programs find in it. Undefined: unknown. */
  readonly contents?: Externalizable<SandboxContents>
}

/** Valid names of further sandboxes. */
export const heldSessionPattern = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/

/** Further sandboxes of one agent. */
export const maxHeldSessions = 8

/** Milliseconds after which a session of a run that was terminated ends. It is parked in this time. */
export const heldSessionIdleMs = 7 * 24 * 3_600_000

/** The path of an artifact of such a sandbox among the files of the run, which has several folders for artifacts. */
export function pathInRun(session: string, path: string): string {
  return `${outputFolder}/${session}${path.slice(outputFolder.length)}`
}

/** The name of the named session. The id is that of the first execution of the run: later runs get other sessions. */
export function nameOfHeldSession(firstExecutionRunId: string, name: string): string {
  return `${firstExecutionRunId}.${name}`
}
