import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { PtcError } from '../../../common/errors.js'
import { languages } from '../../../languages/index.js'

/** The input of the build of the sandbox image. */
export interface ImageSource {
  /** The build context: a folder with `image/`, and a folder for the runner of each language. */
  readonly directory: string
  /** The files of the build context that the image needs; relative paths, sorted. */
  readonly files: readonly string[]
  /** SHA-256 over names and contents of the files. */
  readonly digest: string
  /** The base image; default: the base image of the Dockerfile. */
  readonly base: string | undefined
  /** The image with Node.js; default: that of the Dockerfile. */
  readonly node: string | undefined
  /** Derived from the files and the names of both images, so that a changed runner or base never uses an old image. */
  readonly tag: string
}

/** Labels of images. An image that somebody builds from one inherits them. */
export const imageLabels = {
  /** {@link ImageSource.digest}. */
  runner: 'ptc.runner',
  /** For people: `minimal`, `data`, `polyglot` or `packages`. */
  title: 'ptc.image',
  /** The image on which the packages were installed. */
  base: 'ptc.base',
  /** The lists of packages, as JSON. */
  packages: 'ptc.packages',
} as const

/** The repository of the images that are built here. */
export const imageRepository = 'durable-ptc-sandbox'

export const dockerfile = 'image/Dockerfile'

/** The folder of the files that build an image with further packages, in the folder of the source. */
export const packagesFolder = 'image/packages'

const relayFolder = 'relay'

/** Files besides the runners. Those of {@link packagesFolder} make other images, whose names follow from the digest, too. */
const otherFiles = [
  dockerfile,
  'image/supervisor.c',
  'image/contents.py',
  'image/matplotlib/matplotlibrc',
  'image/matplotlib/durable_ptc_figures.py',
  `${packagesFolder}/Dockerfile`,
  `${packagesFolder}/install.js`,
  'dispatcher/tool.c',
]

/** @throws PtcError INTERNAL when the files are missing (a broken installation) */
export function readImageSource(directory: string, base?: string, node?: string): ImageSource {
  if (!existsSync(join(directory, dockerfile))) {
    throw new PtcError('INTERNAL', `no ${dockerfile} in ${directory}`, { hint: 'Install durable-ptc again.' })
  }
  const runners = languages.flatMap(({ name, runner: { folder = name, entry } }) =>
    readdirSync(join(directory, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith(extname(entry)))
      .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
  )
  // Process 1 of a sandbox in a cluster.
  const relay = readdirSync(join(directory, relayFolder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.py'))
    .map((file) => `${relayFolder}/${file.replaceAll('\\', '/')}`)
  // Languages may share a runner.
  const files = [...new Set([...otherFiles, ...runners, ...relay])].sort()
  const hash = createHash('sha256')
  for (const file of files) {
    const content = readFileSync(join(directory, file))
    hash.update(`${file} ${content.length}\n`).update(content)
  }
  const digest = hash.digest('hex')
  const images = [base, node].filter((each) => each !== undefined).join(' ')
  const suffix = images === '' ? '' : `-${createHash('sha256').update(images).digest('hex').slice(0, 8)}`
  return { directory, files, digest, base, node, tag: `${imageRepository}:${digest.slice(0, 12)}${suffix}` }
}
