import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { pack } from 'tar-stream'
import { z } from 'zod'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { defined } from '../../../common/defined.js'
import { PtcError, messageOf } from '../../../common/errors.js'
import { packageKinds } from '../../../common/run/sandbox-image.js'
import { takeStart } from '../../../common/text/text.js'
import { environmentVariable } from '../../../platform/environment-variable.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import type { ImageRecipe } from './image-recipe.js'
import { dockerfile, type ImageSource, imageLabels, packagesFolder } from './image-source.js'
import { minimalImage } from './named-images.js'

export interface BuildImageOptions {
  /** Network of the build steps, such as `host`. Default: PTC_BUILD_NETWORK, or else the daemon's default. */
  readonly network?: string | undefined
  /** Receives the lines of the build log. */
  readonly onProgress?: ((line: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

export type BuiltRecipe = Exclude<ImageRecipe, { readonly kind: 'foreign' }>

type PackagesRecipe = Extract<ImageRecipe, { readonly kind: 'packages' }>

/** Maximum time for a build. It is enough to install hundreds of megabytes over a slow network. */
const buildTimeoutMs = 30 * 60_000

/** Lines of the end of a build log in the error. */
const reportedLines = 12

/** Lines that Docker adds to the output of the steps. */
const ofBuilder = /^(Step \d+\/| ---> |Removing intermediate container )|^\s*$/

const buildEvent = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  errorDetail: z.object({ message: z.string() }).optional(),
})

interface ImageBuild {
  readonly context: { readonly context: string; readonly src: string[] } | Readable
  readonly dockerfile: string
  readonly labels: Readonly<Record<string, string>>
  readonly arguments: Readonly<Record<string, string>>
  /** Makes the error of a build that failed, with the last lines of its log. */
  failure(message: string, log: readonly string[]): PtcError
}

/**
 * Builds an image through the Docker API, and tags it with the name of its recipe. Needs no docker CLI.
 *
 * @throws PtcError SANDBOX_IMAGE_BUILD_FAILED, SANDBOX_UNAVAILABLE without a daemon
 */
export async function buildImage(
  engine: DockerEngine,
  source: ImageSource,
  recipe: BuiltRecipe,
  options: BuildImageOptions = {},
): Promise<void> {
  const build = recipe.kind === 'minimal' ? minimalBuild(source) : await packagesBuild(source, recipe)
  const network = options.network ?? environmentVariable('PTC_BUILD_NETWORK')
  const action = `build image ${recipe.name}`
  await engine.call({ action, signal: options.signal, timeoutMs: buildTimeoutMs }, async (docker, abortSignal) => {
    const stream = await docker.buildImage(build.context, {
      t: recipe.name,
      dockerfile: build.dockerfile,
      labels: build.labels,
      buildargs: build.arguments,
      ...defined({ networkmode: network }),
      rm: true,
      forcerm: true,
      abortSignal,
    })
    abortSignal.addEventListener('abort', () => 'destroy' in stream && (stream as NodeJS.ReadStream).destroy())
    const log: string[] = []
    for await (const line of createInterface({ input: stream })) {
      if (line.trim() === '') continue
      const event = parseEvent(line)
      if (event.errorDetail !== undefined) throw build.failure(event.errorDetail.message, log)
      const text = stripVTControlCharacters(event.stream ?? event.status ?? '').trimEnd()
      if (text === '') continue
      log.push(...text.split('\n').filter((each) => !ofBuilder.test(each)))
      log.splice(0, log.length - reportedLines)
      options.onProgress?.(text)
    }
  })
}

function minimalBuild({ directory, files, base, node, digest, tag }: ImageSource): ImageBuild {
  return {
    context: { context: directory, src: [...files] },
    dockerfile,
    labels: { [imageLabels.runner]: digest, [imageLabels.title]: minimalImage },
    arguments: { RUNNER_DIGEST: digest, ...defined({ BASE: base, NODE: node }) },
    failure: (message) =>
      new PtcError(
        'SANDBOX_IMAGE_BUILD_FAILED',
        `could not build image ${tag} from ${base ?? 'the base of its Dockerfile'}: ${message}`,
        {
          hint:
            'Set PTC_BASE_IMAGE to a Debian image, and PTC_NODE_IMAGE to one with Node.js, that is on the daemon or can be ' +
            'pulled; PTC_BUILD_NETWORK=host helps where containers have no network.',
        },
      ),
  }
}

/** Default of the image with npm: that of the Dockerfile of the minimal image. */
const defaultNodeImage = 'node:24-bookworm-slim'

async function packagesBuild({ directory, node }: ImageSource, recipe: PackagesRecipe): Promise<ImageBuild> {
  const { name, title, base, packages } = recipe
  const lists = JSON.stringify(packages)
  return {
    context: await packagesContext(join(directory, packagesFolder), lists),
    dockerfile: 'Dockerfile',
    labels: { [imageLabels.title]: title, [imageLabels.base]: base.name, [imageLabels.packages]: lists },
    arguments: { BASE: base.name, NODE: packages.npm.length === 0 ? base.name : (node ?? defaultNodeImage) },
    failure: (message, log) => {
      const culprits = packagesIn(log, packages)
      const what = culprits.length === 0 ? 'the packages' : culprits.join(', ')
      return new PtcError(
        'SANDBOX_IMAGE_BUILD_FAILED',
        `could not install ${what} into image ${name}: ${message}\n${log.join('\n')}`,
        {
          hint:
            'Check the names in `packages`. PTC_BUILD_NETWORK=host helps where containers have no network, PTC_BUILD_CA ' +
            'where a proxy has a certificate of its own.',
        },
      )
    },
  }
}

/** Returns the packages that the error lines of a log name. Package managers do not agree on the form of such a line. */
function packagesIn(log: readonly string[], packages: PackagesRecipe['packages']): readonly string[] {
  const words = log
    .filter((line) => /^(E:|ERROR|npm (error|ERR!))/.test(line))
    .flatMap((line) => line.split(/[\s'"(),]+/))
  const isNamed = (entry: string): boolean => {
    const bare = entry.replace(/(?<=.)[=<>~!@[].*/, '')
    return words.some((word) => word.startsWith(bare) && /^([=<>~!@[;:]|\.?$)/.test(word.slice(bare.length)))
  }
  return packageKinds.flatMap((kind) => packages[kind].filter(isNamed).map((entry) => `${entry} (${kind})`))
}

async function packagesContext(folder: string, lists: string): Promise<Readable> {
  const context = pack()
  for (const file of ['Dockerfile', 'install.js']) context.entry({ name: file }, await readFile(join(folder, file)))
  context.entry({ name: 'packages.json' }, lists)
  const certificates = environmentVariable('PTC_BUILD_CA')
  if (certificates !== undefined) context.entry({ name: 'ca.pem' }, await readCertificates(certificates))
  context.finalize()
  return Readable.from(context)
}

async function readCertificates(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new PtcError('CONFIG_INVALID', `can't read PTC_BUILD_CA (${basename(file)}): ${messageOf(cause)}`, { cause })
  }
}

function parseEvent(line: string): z.infer<typeof buildEvent> {
  try {
    return buildEvent.parse(JSON.parse(line))
  } catch (error) {
    return { status: `unexpected build output: ${takeStart(line, 200)} (${messageOf(error)})` }
  }
}
