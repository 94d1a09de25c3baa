import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { raceWithSignal } from '../../common/async/abort.js'
import { digestJson } from '../../common/calls/call-identity.js'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { defaultLimits } from '../../common/run/limits.js'
import type { ImageChoice, PackageKind, SandboxContents } from '../../common/run/sandbox-image.js'
import { installFolder, languagePrograms } from '../../languages/index.js'
import { cacheDirectory } from '../../platform/cache-directory.js'
import { makeFolder } from '../../platform/make-folder.js'
import type { SandboxConnection } from '../backend.js'
import { packageNames } from '../package-names.js'
import { withTimeout } from './engine/with-timeout.js'
import type { SandboxImages } from './image/sandbox-images.js'
import type { ServerProgram } from './server-container.js'

/** Maximum time for the programs of an image to print their versions. */
const timeoutMs = 60_000

/** More than {@link answer} can have. */
const maxAnswerBytes = 64 << 10

/** The output of runner/image/contents.py. It comes out of an image that somebody may have built. */
const answer = z.strictObject({
  languages: z.record(z.string().max(40), z.string().regex(/^[0-9.]{0,40}$/)),
  packages: z.strictObject({ apt: packageNames, pip: packageNames, npm: packageNames } satisfies {
    readonly [Kind in PackageKind]: z.ZodType
  }),
})

type Answer = z.infer<typeof answer>

type StartProgram = (program: ServerProgram, signal: AbortSignal) => Promise<SandboxConnection>

/**
 * Asks images what they have, by a container that ends at once. The id of an image determines the answer, so a file in
 * the cache folder keeps it, for all workers of this machine.
 */
export class ImageContents {
  readonly #images: Pick<SandboxImages, 'resolve'>
  readonly #start: StartProgram
  readonly #known = new Map<string, Promise<Answer>>()

  /** @param start executes a program in a container with the hardening of a sandbox */
  constructor(images: Pick<SandboxImages, 'resolve'>, start: StartProgram) {
    this.#images = images
    this.#start = start
  }

  /** @throws PtcError SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING, SANDBOX_UNENFORCED */
  async of(choice: ImageChoice | undefined, signal: AbortSignal): Promise<SandboxContents> {
    const id = await this.#images.resolve({ image: defined({ choice }) })
    const programs = languagePrograms()
    const commands = Object.fromEntries(programs.map(({ name, version }) => [name, [...version]]))
    // A cluster names an image by its repository, too.
    const key = `${id.replace(/^sha256:/, '').replaceAll(/[^\w.-]+/g, '-')}-${digestJson(commands).slice(0, 12)}`
    // All runs wait for one answer, so the signal of none of them ends the question.
    const ask = () => this.#ask(JSON.stringify(commands), id)
    const known = this.#known.get(key) ?? cached(join(cacheDirectory(process.env), 'images', `${key}.json`), ask)
    this.#known.set(key, known)
    known.catch(() => this.#known.get(key) === known && this.#known.delete(key))
    const { languages, packages } = await raceWithSignal(signal, known)
    const found = programs.filter(({ name }) => languages[name] !== undefined)
    // Languages with the same program, such as JavaScript and TypeScript, are one line.
    const lines = new Set(found.map(({ name, title }) => `${title} ${languages[name]}`.trim()))
    return { programs: [...lines], languages: found.map(({ name }) => name), packages }
  }

  async #ask(commands: string, image: string): Promise<Answer> {
    const program = {
      name: 'contents',
      command: '/usr/bin/python3',
      args: ['-I', '-B', `${installFolder}/image/contents.py`, commands],
      env: {},
      limits: defaultLimits,
      image: { pinned: image },
    }
    return withTimeout(timeoutMs, undefined, async (timeout) => {
      const connection = await this.#start(program, timeout)
      const stop = (): void => void connection.kill().catch(() => undefined)
      timeout.addEventListener('abort', stop, { once: true })
      try {
        const chunks: Uint8Array[] = []
        let bytes = 0
        for await (const chunk of connection.received) {
          chunks.push(chunk)
          bytes += chunk.byteLength
          if (bytes > maxAnswerBytes) break
        }
        timeout.throwIfAborted()
        return answer.parse(JSON.parse(Buffer.concat(chunks).toString()))
      } catch (cause) {
        if (timeout.aborted) throw cause
        throw new PtcError('SANDBOX_UNAVAILABLE', `image ${image} does not say what it has: ${messageOf(cause)}`, {
          cause,
        })
      } finally {
        await connection.kill()
      }
    })
  }
}

/** Reads an answer from a file, or asks and writes it. Without a folder that can be written, each process asks. */
async function cached(file: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return answer.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch {
    const asked = await ask()
    const draft = `${file}.${randomUUID()}`
    try {
      await makeFolder(join(file, '..'), 0o700)
      await writeFile(draft, JSON.stringify(asked), { mode: 0o600 })
      await rename(draft, file)
    } catch {
      await rm(draft, { force: true })
    }
    return asked
  }
}
