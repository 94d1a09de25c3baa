/*
 * The access that people have given to a server, for all workers of a fleet: versions in the store of values.
 *
 *   tokens/000000000007    the access of version 7; empty after an end
 *   leases/000000000007-0  the worker that renews version 7, and until when
 *
 * Invariants:
 * 1. A version is created exclusively: whoever replaces version 7 creates version 8, or finds that another has done it.
 *    So a worker that found a dead access never removes a newer one.
 * 2. One worker at a time renews a version: a refresh token is used once. A lease ends when its worker has died.
 */
import { PtcError } from '../../../../common/errors.js'
import type { ObjectStore } from '../../../../values/objects/object-store.js'
import { z } from 'zod'

const accessSchema = z.object({
  issuer: z.string(),
  authorizationServerUrl: z.string(),
  resource: z.string().optional(),
  /** The client that the login has registered. */
  client: z.looseObject({ client_id: z.string(), client_secret: z.string().optional() }).optional(),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  scope: z.string().optional(),
  /** Milliseconds since 1970. */
  expiresAt: z.number().optional(),
})

/** The access to a server. It is never in a history. */
export type StoredAccess = Readonly<z.output<typeof accessSchema>>

export interface AccessVersion {
  /** 0 when nobody has logged in. */
  readonly number: number
  /** Undefined: nobody has logged in, or the access has ended. */
  readonly access: StoredAccess | undefined
}

const maxRecordBytes = 32 * 1024
const keptVersions = 3
/** Attempts to read a version before another worker replaces it. */
const maxReads = 5
/** Milliseconds. Longer than a request to an authorization server takes. */
const leaseMs = 60_000

export class TokenStore {
  readonly #open: () => Promise<ObjectStore>
  readonly #folder: string

  /**
   * @param open encrypts if the configuration has keys
   * @param folder a name that is made by this package
   */
  constructor(open: () => Promise<ObjectStore>, folder: string) {
    this.#open = open
    this.#folder = folder
  }

  async latest(signal: AbortSignal, reads = maxReads): Promise<AccessVersion> {
    const objects = await this.#open()
    const number = (await this.#numbers(objects, signal)).at(-1) ?? 0
    if (number === 0) return { number, access: undefined }
    const content = await objects.read(this.#nameOf(number), maxRecordBytes, signal)
    // Another worker has replaced it, and removed it, meanwhile.
    if (content === undefined && reads > 1) return this.latest(signal, reads - 1)
    if (content === undefined)
      throw new PtcError('VALUE_STORE_UNAVAILABLE', `the tokens of a server are missing in ${objects.description}`)
    return { number, access: content.byteLength === 0 ? undefined : decode(content) }
  }

  /**
   * Replaces a version. Returns false when another worker was faster.
   *
   * @param access undefined ends the access
   */
  async replace(number: number, access: StoredAccess | undefined, signal: AbortSignal): Promise<boolean> {
    const objects = await this.#open()
    const content = access ? encode(access) : new Uint8Array()
    const isFirst = await objects.create(this.#nameOf(number + 1), content, signal) // invariant 1
    const numbers = await this.#numbers(objects, signal)
    const old = numbers.filter((each) => each <= (numbers.at(-1) ?? 0) - keptVersions)
    await objects.remove(
      old.map((each) => this.#nameOf(each)),
      signal,
    )
    return isFirst && numbers.at(-1) === number + 1
  }

  /** Takes the right to renew a version. Returns how to give it back; undefined when another worker has it. */
  async lease(number: number, signal: AbortSignal): Promise<(() => Promise<void>) | undefined> {
    const objects = await this.#open()
    const folder = `${this.#folder}/leases`
    const names = await objects.list(folder, signal)
    const older = names.filter((name) => Number(name.split('-')[0]) < number)
    await objects.remove(
      older.map((name) => `${folder}/${name}`),
      signal,
    )
    const taken = names.filter((name) => name.startsWith(`${pad(number)}-`)).map((name) => Number(name.split('-')[1]))
    const last = Math.max(-1, ...taken)
    if (last >= 0) {
      const until = await objects.read(`${folder}/${pad(number)}-${last}`, 100, signal)
      if (until !== undefined && Number(Buffer.from(until).toString()) > Date.now()) return undefined
    }
    const name = `${folder}/${pad(number)}-${last + 1}`
    if (!(await objects.create(name, Buffer.from(String(Date.now() + leaseMs)), signal))) return undefined // invariant 2
    return () => objects.remove([name], signal)
  }

  async #numbers(objects: ObjectStore, signal: AbortSignal): Promise<readonly number[]> {
    const names = await objects.list(`${this.#folder}/tokens`, signal)
    return names
      .filter((name) => /^\d{12}$/.test(name))
      .map(Number)
      .toSorted((a, b) => a - b)
  }

  #nameOf(number: number): string {
    return `${this.#folder}/tokens/${pad(number)}`
  }
}

function encode(access: StoredAccess): Uint8Array {
  const content = Buffer.from(JSON.stringify(access))
  if (content.byteLength > maxRecordBytes)
    throw new PtcError('VALUE_STORE_REFUSED', `the tokens of a server have more than ${maxRecordBytes} bytes`)
  return content
}

function decode(content: Uint8Array): StoredAccess {
  try {
    return accessSchema.parse(JSON.parse(Buffer.from(content).toString()))
  } catch {
    // The cause could have a part of a token.
    throw new PtcError('VALUE_CORRUPT', "the stored tokens of a server can't be read", {
      hint: 'Log in again: `ptc mcp login SERVER`. Encrypted tokens need the `encryption` with which they were stored.',
    })
  }
}

function pad(number: number): string {
  return String(number).padStart(12, '0')
}
