import { createHash } from 'node:crypto'
import type { CallIdentity } from '../../common/calls/calls.js'
import type { StoredFile } from '../../common/files/files.js'
import type { SessionRef } from '../../common/session/session.js'
import { type EventOrigin, type EventSinks, Observer } from '../observe.js'

interface KeptFiles {
  readonly session: Pick<SessionRef, 'id' | 'epoch'>
  /** Number of the step that ended the cell. */
  readonly step: number
  readonly files: readonly StoredFile[]
}

/** Publishes artifacts that are in the value store. Each is a unit of its own, which is the same in each attempt. */
export async function publishKeptFiles(
  sinks: EventSinks,
  { session: { id, epoch }, step, files }: KeptFiles,
  origin: EventOrigin,
): Promise<void> {
  for (const { path, bytes, sha256, mediaType } of files) {
    const name = createHash('sha256').update(path).digest('hex')
    const observer = new Observer(sinks, origin, {
      unit: `file/${id}/${step}/${name}`,
      epoch,
      id: `${id}/${epoch}/${step}/${name}`,
    })
    const audit = () => ({ session: id, epoch, step })
    await observer.publish({ type: 'file.kept', path, bytes, sha256, mediaType, audit })
  }
}

/** Publishes a file that a tool has returned, and that is in the value store. */
export async function publishReturnedFile(
  sinks: EventSinks,
  { idempotencyKey: call, tool }: Pick<CallIdentity, 'idempotencyKey' | 'tool'>,
  { path, bytes, sha256, mediaType }: StoredFile,
  origin: EventOrigin,
): Promise<void> {
  // An attempt after this one may return another file.
  const observer = new Observer(sinks, origin, { unit: `file/${call}`, id: `file/${call}/${sha256}` })
  await observer.publish({ type: 'file.kept', path, bytes, sha256, mediaType, audit: () => ({ call, tool }) })
}
