import { PtcError } from '../../common/errors.js'
import { failpoint } from '../../common/failpoint.js'
import {
  type FoundFile,
  type LostFile,
  outputFolder,
  partBytes,
  problemOfPath,
  type StoredFile,
  type StoreFilesInput,
  type StoreFilesResult,
} from '../../common/files/files.js'
import { type ExternalValue, externalValue, isExternal } from '../../common/json/external-value.js'
import type { JsonValue } from '../../common/json/json.js'
import { storeFile } from '../../files/index.js'
import { quoteUntrusted } from '../../sandbox/sandbox-end.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'
import type { Values } from '../../values/values.js'
import type { EventSinks } from '../observe.js'
import { runActivity } from '../run-activity.js'
import { publishKeptFiles } from './observe-files.js'

/** Returns why a file is not stored; undefined for one that is. A hostile sandbox chooses paths and sizes. */
function problemOf({ path, bytes, sha256, problem }: FoundFile, bytesLeft: number): string | undefined {
  const invalid = problemOfPath(path, outputFolder)
  if (invalid !== undefined) return `the path: ${invalid}`
  if (sha256 === undefined) return quoteUntrusted(problem ?? 'it was not read')
  return bytes > bytesLeft ? 'it is larger than what is left of the room for files' : undefined
}

/** More than the parts of all files that a sandbox reports for one cell. */
const partsPerAttempt = 100_000

/** Parts that heartbeats name: those of 20 GB. More would make large messages, and are read again after a crash. */
const maxReportedParts = 3_500

/** Details of a heartbeat: the stored parts of each file. The next attempt reads them from the value store. */
interface Progress {
  readonly parts: readonly (readonly ExternalValue[])[]
}

/** A file that the sandbox does not give. */
class Unreadable extends Error {}

class Gone extends Error {}

interface StoreFilesParts extends EventSinks {
  readonly host: SessionHost
  readonly values: Values
}

/**
 * Activity `session.files`: stores artifacts of a cell that has ended. A file that the sandbox has changed since, or
 * can't read, is not stored.
 */
export function storeFiles({ host, values, ...sinks }: StoreFilesParts) {
  return ({ session, step, limits, maxBytes, files, requester }: StoreFilesInput): Promise<StoreFilesResult> =>
    runActivity(async (scope) => {
      const { attempt, signal } = scope
      const known = partsIn(scope.previousDetails)
      const parts: ExternalValue[][] = files.map(() => [])
      let reported = 0
      failpoint('files.begins')
      let reads = attempt * partsPerAttempt

      async function* read({ path, bytes }: FoundFile, index: number): AsyncGenerator<Uint8Array, void, undefined> {
        for (let offset = 0; offset < bytes; offset += partBytes) {
          const stored = await storedPart(known[index]?.[offset / partBytes], values, signal)
          if (stored !== undefined) {
            yield stored
            continue
          }
          const part = { path, offset, bytes: Math.min(partBytes, bytes - offset) }
          reads += 1
          const answer = await host.readFile(session, step, { limits, part }, { attempt: reads, signal })
          signal.throwIfAborted()
          if (answer === undefined) throw new Gone()
          if (answer.type === 'no_snapshot') throw new Unreadable(quoteUntrusted(answer.reason))
          yield Buffer.concat(answer.pieces.map((piece) => Buffer.from(piece, 'base64')))
        }
      }

      /** Stores the parts of a file, and reports them. */
      const storing = (index: number): Pick<Values, 'store'> => ({
        async store(content, storeSignal) {
          const ref = await values.store(content, storeSignal)
          reported += 1
          if (reported > maxReportedParts) return ref
          parts[index]?.push(externalValue({ ...ref, preview: '' }))
          scope.report({ parts } satisfies Progress)
          return ref
        },
      })

      const stored: StoredFile[] = []
      const lost: LostFile[] = []
      let bytesLeft = maxBytes
      for (const [index, file] of files.entries()) {
        const { path, sha256 } = file
        const problem = problemOf(file, bytesLeft)
        if (problem !== undefined) {
          lost.push({ path, problem })
          continue
        }
        bytesLeft -= file.bytes
        try {
          const kept = await storeFile(storing(index), { path, content: read(file, index) }, signal)
          if (kept.sha256 === sha256) stored.push(kept)
          else lost.push({ path, problem: 'it was changed while it was read' })
        } catch (thrown) {
          if (thrown instanceof Gone) return { type: 'gone' }
          if (!(thrown instanceof Unreadable)) throw thrown
          lost.push({ path, problem: thrown.message })
        }
      }
      await publishKeptFiles(sinks, { session, step, files: stored }, { ...scope, requester })
      failpoint('files.stored')
      return { type: 'stored', files: stored, lost }
    })
}

/** Returns the parts that an earlier attempt has stored, by file. */
function partsIn(details: unknown): readonly (readonly JsonValue[])[] {
  if (typeof details !== 'object' || details === null || !('parts' in details)) return []
  return (details as { readonly parts: readonly (readonly JsonValue[])[] }).parts
}

/** Returns a part that an earlier attempt has stored; undefined for one that the sandbox has to give. */
async function storedPart(
  part: JsonValue | undefined,
  values: Pick<Values, 'load'>,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (part === undefined || !isExternal(part)) return undefined
  try {
    const text = await values.load(part, 'a part of a file', signal)
    return typeof text === 'string' ? Buffer.from(text, 'base64') : undefined
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'VALUE_MISSING') return undefined
    throw thrown
  }
}
