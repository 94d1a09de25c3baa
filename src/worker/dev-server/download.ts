import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { messageOf } from '../../common/errors.js'
import { executableSuffix } from './cached-binary.js'
import { cliVersion } from './cli-version.js'

const run = promisify(execFile)

/** Temporal's own host, the one the SDK and the installer use. */
export const downloadHost = 'https://temporal.download'

const answerMs = 10_000
const silenceMs = 20_000
const tellEveryPercent = 25

export interface DownloadOptions {
  readonly target: string
  readonly onProgress: (line: string) => void
  readonly signal: AbortSignal
  readonly host?: string
}

/**
 * Fetches the Temporal CLI into `target`, which appears by rename: complete or not at all. Gives up when the host does not
 * answer in 10 s or sends nothing for 20 s; a slow download that moves may take its time.
 *
 * @throws Error whose message says what went wrong
 */
export async function download(options: DownloadOptions): Promise<void> {
  const { target, onProgress, signal, host = downloadHost } = options
  const folder = await mkdtemp(join(dirname(target), 'download-'))
  try {
    const archive = join(folder, 'archive')
    await fetchTo(archive, `${host}/cli/archive/v${cliVersion}?${platformQuery()}`, onProgress, signal)
    const name = `temporal${executableSuffix}`
    // tar is part of Linux, macOS and Windows 10, and the Windows one reads zip files too.
    await run('tar', ['-xf', archive, '-C', folder, name], { signal, timeout: 60_000, windowsHide: true })
    await chmod(join(folder, name), 0o755)
    await rename(join(folder, name), target)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function platformQuery(): string {
  const platform = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as string]
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string]
  if (platform === undefined || arch === undefined) {
    throw new Error(`Temporal has no download for ${process.platform} on ${process.arch}`)
  }
  return new URLSearchParams({ platform, arch }).toString()
}

async function fetchTo(path: string, url: string, onProgress: (line: string) => void, signal: AbortSignal) {
  const silence = new AbortController()
  const giveUp = (ms: number): NodeJS.Timeout =>
    setTimeout(() => silence.abort(new Error(`${new URL(url).host} sent nothing for ${ms / 1000} s`)), ms)
  let timer = giveUp(answerMs)
  try {
    const either = AbortSignal.any([signal, silence.signal])
    const response = await fetch(url, { signal: either })
    if (!response.ok || response.body === null) {
      throw new Error(`${new URL(url).host} answered ${response.status} ${response.statusText}`.trim())
    }
    const tell = percentTeller(Number(response.headers.get('content-length')), onProgress)
    const watched = new Transform({
      transform(chunk: Uint8Array, _encoding, done) {
        clearTimeout(timer)
        timer = giveUp(silenceMs)
        tell(chunk.byteLength)
        done(null, chunk)
      },
    })
    await pipeline(Readable.fromWeb(response.body), watched, createWriteStream(path), { signal: either })
  } catch (error) {
    signal.throwIfAborted()
    throw reasonOf(silence.signal.aborted ? silence.signal.reason : error)
  } finally {
    clearTimeout(timer)
  }
}

/** `fetch failed` says nothing; its cause does (`getaddrinfo ENOTFOUND …`). */
function reasonOf(error: unknown): Error {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return new Error(messageOf(cause), { cause: error })
}

function percentTeller(total: number, onProgress: (line: string) => void): (bytes: number) => void {
  let received = 0
  let told = 0
  return (bytes) => {
    received += bytes
    const percent = total > 0 ? Math.floor((received / total) * 100) : 0
    if (percent < told + tellEveryPercent) return
    told = percent - (percent % tellEveryPercent)
    onProgress(`downloaded ${told} % of ${Math.round(total / 1_000_000)} MB`)
  }
}
