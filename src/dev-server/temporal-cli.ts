import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { messageOf, PtcError } from '../common/errors.js'
import { hasErrorCode } from '../common/system-error.js'
import { isAtLeast } from '../common/versions.js'
import { cacheDirectory, type EnvironmentVariables } from '../platform/cache-directory.js'
import { withFileLock } from './file-lock.js'

/** The Temporal CLI to install when the machine has none. It contains server 1.31.2. */
export const cliVersion = '1.8.2'

/**
 * Arguments of each dev server. The default is 20 polls a second per shard, and there is one shard: each activity would
 * wait 100 ms.
 */
export const devServerSettings: readonly string[] = ['--dynamic-config-value=history.transferProcessorMaxPollRPS=2000']

/** Older servers lack update-with-start, user metadata and activity pause. */
export const minimumServerVersion = '1.29.0'

/**
 * `go install` rejects the CLI because its go.mod replaces a module by a folder. This one names the published version.
 */
const goModule = `module durable-ptc/temporal-cli
go 1.26.4
require github.com/temporalio/cli v${cliVersion}
replace github.com/temporalio/cli/cliext => github.com/temporalio/cli/cliext v0.0.0-20260731000218-c579925f193f
`
const goArguments = ['build', '-mod=mod', '-trimpath', '-ldflags', '-s -w', 'github.com/temporalio/cli/cmd/temporal']

const run = promisify(execFile)
export const executableSuffix = process.platform === 'win32' ? '.exe' : ''
const executable = `temporal${executableSuffix}`
const installFolderPrefix = 'temporal-cli-'

interface FindTemporalCliOptions {
  readonly environment: EnvironmentVariables
  readonly onProgress: (line: string) => void
  readonly signal: AbortSignal
  /** Default: Temporal's own host, which the SDK uses too. */
  readonly downloadHost?: string
}

interface CliSource {
  readonly name: string
  readonly path: string
  /** Puts the executable into this folder. */
  readonly install?: (folder: string) => Promise<unknown>
}

/** Path of this user's own copy of the CLI. */
export function cachedCliPath(environment: EnvironmentVariables): string {
  return join(cacheDirectory(environment), `temporal-${cliVersion}${executableSuffix}`)
}

/** CLIs that need no installation, in order of preference. */
export function installedClis(environment: EnvironmentVariables): readonly CliSource[] {
  return [
    { name: 'cached copy', path: cachedCliPath(environment) },
    { name: 'temporal on PATH', path: executable },
  ]
}

/**
 * Returns a Temporal CLI: the cached copy, `temporal` on PATH, a download, or a build with Go, in this order. One
 * process at a time installs; the others wait for its result. The result appears by rename, so an interrupted
 * installation leaves no broken CLI; the next installation deletes its folder.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE with the failure of each source
 */
export async function findTemporalCli(options: FindTemporalCliOptions): Promise<string> {
  const { environment, signal, downloadHost = 'https://temporal.download' } = options
  const cached = cachedCliPath(environment)
  const failures: string[] = []
  const found =
    (await firstUsable(installedClis(environment), failures, options)) ??
    (await withFileLock(`${cached}.lock`, signal, async () => {
      const isInstalledMeanwhile = await checkCli(cached, environment, signal).catch(() => undefined)
      if (isInstalledMeanwhile !== undefined) return cached
      await removeUnfinished(dirname(cached))
      const download = (folder: string) => downloadCli(downloadHost, folder, signal)
      const build = (folder: string) => buildCli(environment, folder, signal)
      const sources = [
        { name: `download of ${cliVersion}`, path: cached, install: download },
        { name: `build of ${cliVersion} with Go (about 4 minutes)`, path: cached, install: build },
      ]
      return firstUsable(sources, failures, options)
    }))
  if (found !== undefined) return found
  throw new PtcError('TEMPORAL_UNREACHABLE', `no Temporal CLI can be found or installed\n${failures.join('\n')}`, {
    hint:
      'Install the Temporal CLI (https://docs.temporal.io/cli#install) so that `temporal` is on PATH, ' +
      'or set TEMPORAL_ADDRESS to the host:port of a running server.',
  })
}

async function firstUsable(
  sources: readonly CliSource[],
  failures: string[],
  { environment, onProgress, signal }: FindTemporalCliOptions,
): Promise<string | undefined> {
  for (const { name, path, install } of sources) {
    try {
      if (install !== undefined) {
        onProgress(`Temporal CLI: ${name}, once`)
        await installInto(path, install)
      }
      await checkCli(path, environment, signal)
      onProgress(`Temporal CLI: ${name}, ${path}`)
      return path
    } catch (error) {
      signal.throwIfAborted()
      onProgress(`Temporal CLI: ${name}: ${reasonOf(error).split('\n', 1)[0]}`)
      failures.push(`  ${name}: ${reasonOf(error)}`)
    }
  }
  return undefined
}

/**
 * Checks that this is a Temporal CLI and that its server is new enough.
 *
 * @returns the version of its server
 */
export async function checkCli(path: string, environment: EnvironmentVariables, signal: AbortSignal): Promise<string> {
  const { stdout } = await run(path, ['--version'], { env: environment, signal, timeout: 10_000, windowsHide: true })
  // `temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)`
  const version = /\bServer v?(\d+\.\d+\.\d+)/i.exec(stdout)?.[1]
  if (version === undefined) throw new Error(`${path} does not name its server version: ${stdout.trim()}`)
  if (isAtLeast(version, minimumServerVersion)) return version
  throw new Error(`${path} has Temporal server ${version}; ${minimumServerVersion} or newer is needed`)
}

async function installInto(path: string, install: (folder: string) => Promise<unknown>): Promise<void> {
  const folder = await mkdtemp(join(dirname(path), installFolderPrefix))
  try {
    await install(folder)
    await rename(join(folder, executable), path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Deletes the files of a killed process. Safe only under the lock. */
async function removeUnfinished(folder: string): Promise<void> {
  const unfinished = (await readdir(folder)).filter((name) => name.startsWith(installFolderPrefix))
  for (const name of unfinished) await rm(join(folder, name), { recursive: true, force: true })
}

/** Node's own fetch gives up after 10 s without a connection and after 300 s without data. */
async function downloadCli(host: string, folder: string, signal: AbortSignal): Promise<void> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const response = await fetch(`${host}/cli/archive/v${cliVersion}?platform=${platform}&arch=${arch}`, { signal })
  if (!response.ok || response.body === null) {
    throw new Error(`${new URL(host).host} answered ${response.status} ${response.statusText}`.trim())
  }
  const archive = join(folder, 'archive')
  await pipeline(Readable.fromWeb(response.body), createWriteStream(archive), { signal })
  // tar is part of Linux, macOS and Windows 10, and the Windows one reads zip files too.
  await run('tar', ['-xf', archive, '-C', folder, executable], { signal, windowsHide: true })
}

async function buildCli(environment: EnvironmentVariables, folder: string, signal: AbortSignal): Promise<void> {
  await writeFile(join(folder, 'go.mod'), goModule)
  const env = { ...environment, CGO_ENABLED: '0', GOWORK: 'off' }
  await run('go', goArguments, { cwd: folder, env, signal, maxBuffer: 64 * 1024 * 1024 })
}

/** The end of a message, because Go prints every module that it downloads. Replaces `fetch failed` with its cause. */
function reasonOf(error: unknown): string {
  if (hasErrorCode(error, 'ENOENT') && error instanceof Error && 'path' in error)
    return `${String(error.path)} not found`
  const message = messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)
  return message.trim().split('\n').slice(-5).join('\n')
}
