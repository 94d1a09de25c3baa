import { createInterface } from 'node:readline'
import { z } from 'zod'
import { defined } from '../../../common/defined.js'
import { PtcError, messageOf } from '../../../common/errors.js'
import { environmentVariable } from '../../../platform/environment-variable.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { dockerfile, runnerDigestLabel, type ImageSource } from './image-source.js'
import { takeStart } from '../../../common/text/text.js'

export interface BuildImageOptions {
  /** Network of the build steps, such as `host`. Default: PTC_BUILD_NETWORK, or else the daemon's default. */
  readonly network?: string | undefined
  /** Receives the lines of the build log. */
  readonly onProgress?: ((line: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Maximum time for a build. It is enough to install an interpreter over a slow network. */
const buildTimeoutMs = 10 * 60_000

const buildEvent = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  errorDetail: z.object({ message: z.string() }).optional(),
})

/**
 * Builds the image of `source` through the Docker API, and tags it `source.tag`. Needs no docker CLI.
 *
 * @throws PtcError SANDBOX_IMAGE_MISSING when the build fails, SANDBOX_UNAVAILABLE without a daemon
 */
export async function buildImage(
  engine: DockerEngine,
  source: ImageSource,
  options: BuildImageOptions = {},
): Promise<void> {
  const { base, node, tag } = source
  const network = options.network ?? environmentVariable('PTC_BUILD_NETWORK')
  const action = `build image ${tag}`
  await engine.call({ action, signal: options.signal, timeoutMs: buildTimeoutMs }, async (docker, abortSignal) => {
    const stream = await docker.buildImage(
      { context: source.directory, src: [...source.files] },
      {
        t: tag,
        dockerfile,
        labels: { [runnerDigestLabel]: source.digest },
        buildargs: { RUNNER_DIGEST: source.digest, ...defined({ BASE: base, NODE: node }) },
        ...defined({ networkmode: network }),
        rm: true,
        forcerm: true,
        abortSignal,
      },
    )
    abortSignal.addEventListener('abort', () => 'destroy' in stream && (stream as NodeJS.ReadStream).destroy())
    const description = `${tag} from ${base ?? 'the base of its Dockerfile'}`
    for await (const line of createInterface({ input: stream })) {
      reportBuildEvent(line, description, options.onProgress)
    }
  })
}

function reportBuildEvent(line: string, imageDescription: string, onProgress: BuildImageOptions['onProgress']): void {
  if (line.trim() === '') return
  const event = parseEvent(line)
  if (event.errorDetail !== undefined) {
    throw new PtcError(
      'SANDBOX_IMAGE_MISSING',
      `could not build image ${imageDescription}: ${event.errorDetail.message}`,
      {
        hint:
          'Set PTC_BASE_IMAGE to a Debian image, and PTC_NODE_IMAGE to one with Node.js, that is on the daemon or can be ' +
          'pulled; ' +
          'PTC_BUILD_NETWORK=host helps where containers have no network.',
      },
    )
  }
  const text = (event.stream ?? event.status ?? '').trimEnd()
  if (text !== '') onProgress?.(text)
}

function parseEvent(line: string): z.infer<typeof buildEvent> {
  try {
    return buildEvent.parse(JSON.parse(line))
  } catch (error) {
    return { status: `unexpected build output: ${takeStart(line, 200)} (${messageOf(error)})` }
  }
}
