import { createInterface } from 'node:readline'
import { z } from 'zod'
import { PtcError, messageOf } from '../../common/errors.js'
import type { DockerEngine } from './engine.js'
import { dockerfile, runnerLabel, type ImageSource } from './image-source.js'

export interface BuildImageOptions {
  /** Network of the build steps, such as `host`. Default: PTC_BUILD_NETWORK, else the daemon's. */
  readonly network?: string | undefined
  /** A line of the build's log. */
  readonly onProgress?: ((line: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Installing an interpreter over a slow network is slow; more is a hang. */
const buildMs = 10 * 60_000

const buildEvent = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  errorDetail: z.object({ message: z.string() }).optional(),
})

/**
 * Builds the image of `source` under `tag` through the Docker API; no docker CLI is needed.
 *
 * @throws PtcError SANDBOX_IMAGE_MISSING when the build fails, SANDBOX_UNAVAILABLE without a daemon
 */
export async function buildImage(
  engine: DockerEngine,
  source: ImageSource,
  tag: string,
  options: BuildImageOptions = {},
): Promise<void> {
  const { base } = source
  const network = options.network ?? fromEnvironment('PTC_BUILD_NETWORK')
  const doing = `build image ${tag}`
  await engine.call({ doing, signal: options.signal, deadlineMs: buildMs }, async (docker, abortSignal) => {
    const stream = await docker.buildImage(
      { context: source.directory, src: [...source.files] },
      {
        t: tag,
        dockerfile,
        labels: { [runnerLabel]: source.digest },
        buildargs: { RUNNER_DIGEST: source.digest, ...(base === undefined ? {} : { BASE: base }) },
        ...(network === undefined ? {} : { networkmode: network }),
        rm: true,
        forcerm: true,
        abortSignal,
      },
    )
    abortSignal.addEventListener('abort', () => 'destroy' in stream && (stream as NodeJS.ReadStream).destroy())
    for await (const line of createInterface({ input: stream }))
      follow(line, `${tag} from ${base ?? 'the base of its Dockerfile'}`, options.onProgress)
  })
}

/** Undefined when it is not set, or empty. */
export function fromEnvironment(name: string): string | undefined {
  const value = process.env[name]
  return value === '' ? undefined : value
}

function follow(line: string, what: string, onProgress: BuildImageOptions['onProgress']): void {
  if (line.trim() === '') return
  const event = parseEvent(line)
  if (event.errorDetail !== undefined) {
    throw new PtcError('SANDBOX_IMAGE_MISSING', `could not build image ${what}: ${event.errorDetail.message}`, {
      hint:
        'Name a Debian image that can be pulled, or is there, in PTC_BASE_IMAGE; ' +
        'PTC_BUILD_NETWORK=host helps where containers have no network.',
    })
  }
  const text = (event.stream ?? event.status ?? '').trimEnd()
  if (text !== '') onProgress?.(text)
}

function parseEvent(line: string): z.infer<typeof buildEvent> {
  try {
    return buildEvent.parse(JSON.parse(line))
  } catch (error) {
    return { status: `(not understood: ${messageOf(error)}) ${line.slice(0, 200)}` }
  }
}
