import { createHash } from 'node:crypto'
import { readdir, readFile, realpath } from 'node:fs/promises'
import path from 'node:path'
import { messageOf, PtcError } from '../../../common/errors.js'
import { pluralize } from '../../../common/text/text.js'
import { problemOfTags, type WheelPlatform } from './wheel-tags.js'

/** Limits of a folder of wheels. Each interpreter has the files in memory. */
export const wheelLimits = { wheels: 200, archiveBytes: 256 << 20, bytes: 512 << 20, files: 20_000 } as const

/** A folder of wheels, as it was when it was read. */
export interface WheelFolder {
  /** Without links in it. */
  readonly folder: string
  /** In the order of their names. */
  readonly wheels: readonly { readonly name: string; readonly sha256: string }[]
  /** Of all wheels together. */
  readonly archiveBytes: number
  /** SHA-256 of names and contents. */
  readonly digest: string
}

export function invalidWheels(problem: string, hint: string, cause?: unknown): PtcError {
  return new PtcError('SANDBOX_WHEELS_INVALID', problem, { hint, cause })
}

/**
 * Reads the names and the contents of the wheels of a folder. Other files in it are ignored.
 *
 * @throws PtcError SANDBOX_WHEELS_INVALID
 */
export async function readWheels(named: string, platform: WheelPlatform): Promise<WheelFolder> {
  const folder = await realpath(named).catch((cause: unknown) => {
    if (isMissing(cause)) throw invalidWheels(`there is no folder ${named} for wheels`, inConfiguration, cause)
    throw invalidWheels(`the folder of wheels can't be read: ${messageOf(cause)}`, inConfiguration, cause)
  })
  const names = (await namesIn(folder)).sort()
  if (names.length === 0) throw invalidWheels(`${folder} has no wheels`, inConfiguration)
  if (names.length > wheelLimits.wheels)
    throw invalidWheels(`${folder} has more than ${pluralize(wheelLimits.wheels, 'wheel')}`, 'Use another folder.')
  const hash = createHash('sha256')
  const distributions = new Map<string, string>()
  const wheels = []
  let archiveBytes = 0
  for (const name of names) {
    const tags = problemOfTags(name, platform)
    if (tags.problem !== undefined) throw invalidWheels(`${name}: ${tags.problem}`, download(platform))
    const other = distributions.get(tags.distribution)
    if (other !== undefined) throw invalidWheels(`${name} and ${other} are the same package`, 'Remove one of them.')
    distributions.set(tags.distribution, name)
    const content = await readFile(path.join(folder, name)).catch((cause: unknown) => {
      throw invalidWheels(`${name} can't be read: ${messageOf(cause)}`, inConfiguration, cause)
    })
    archiveBytes += content.byteLength
    if (archiveBytes > wheelLimits.archiveBytes)
      throw invalidWheels(`the wheels in ${folder} have more than ${wheelLimits.archiveBytes} bytes`, 'Remove some.')
    const sha256 = createHash('sha256').update(content).digest('hex')
    hash.update(JSON.stringify([name, sha256]))
    wheels.push({ name, sha256 })
  }
  return { folder, wheels, archiveBytes, digest: hash.digest('hex') }
}

const inConfiguration = '`sandbox.wasm.wheels` of the configuration names the folder.'

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'
}

/** The command that downloads a wheel that fits. */
export function download({ python: [major, minor], abi }: WheelPlatform): string {
  const options = `--only-binary :all: --python-version ${major}.${minor} --platform pyemscripten_${abi}_wasm32`
  return `Remove it, or download one that fits: pip download ${options} --dest FOLDER PACKAGE`
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw invalidWheels(`the folder of wheels can't be read: ${messageOf(cause)}`, inConfiguration, cause)
  })
  const wheels = entries.filter(({ name }) => name.endsWith('.whl'))
  // The interpreter can read this folder only.
  const other = wheels.find((entry) => !entry.isFile())
  if (other) throw invalidWheels(`${other.name} is a link or a folder`, 'Put the file itself into the folder.')
  return wheels.map(({ name }) => name)
}
