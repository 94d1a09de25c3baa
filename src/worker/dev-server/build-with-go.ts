import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../../common/errors.js'
import type { Environment } from '../../sandbox/cache-directory.js'
import { isAtLeast } from './cli-version.js'
import { goLinkerFlags, goModule, goPackage, goVersion } from './go-module.js'

const run = promisify(execFile)
const deadlineMs = 20 * 60_000
const tellEveryMs = 20_000
/** The first Go that fetches a newer toolchain when a module asks for one. */
const oldestGo = '1.21.0'

export interface BuildOptions {
  readonly target: string
  readonly environment: Environment
  readonly onProgress: (line: string) => void
  readonly signal: AbortSignal
}

/**
 * Builds the Temporal CLI from source into `target`, which appears by rename: complete or not at all.
 *
 * @throws Error when there is no Go, or the build fails; the message has the last lines of Go's own
 */
export async function buildWithGo({ target, environment, onProgress, signal }: BuildOptions): Promise<void> {
  await checkGo(environment, signal)
  const folder = await mkdtemp(join(dirname(target), 'go-build-'))
  const started = performance.now()
  const teller = setInterval(() => {
    onProgress(`still building (${Math.round((performance.now() - started) / 1000)} s)`)
  }, tellEveryMs)
  try {
    await writeFile(join(folder, 'go.mod'), goModule)
    // No C compiler needed: the server's SQLite is pure Go. `-mod=mod` lets Go fill in what our short go.mod leaves out.
    const goArguments = ['build', '-mod=mod', '-trimpath', '-ldflags', goLinkerFlags, '-o', 'temporal', goPackage]
    await run('go', goArguments, {
      cwd: folder,
      env: { ...environment, CGO_ENABLED: '0', GOWORK: 'off' },
      timeout: deadlineMs,
      maxBuffer: 64 * 1024 * 1024,
      signal,
    })
    await chmod(join(folder, 'temporal'), 0o755)
    await rename(join(folder, 'temporal'), target)
  } catch (error) {
    signal.throwIfAborted()
    throw new Error(`go build failed: ${lastLines(error)}`, { cause: error })
  } finally {
    clearInterval(teller)
    await rm(folder, { recursive: true, force: true })
  }
}

async function checkGo(environment: Environment, signal: AbortSignal): Promise<void> {
  let version: string | undefined
  try {
    const { stdout } = await run('go', ['version'], { env: { ...environment }, signal, timeout: 10_000 })
    version = /\bgo(\d+\.\d+(?:\.\d+)?)/.exec(stdout)?.[1]
  } catch (error) {
    signal.throwIfAborted()
    throw new Error(`Go is not installed (${goVersion} or newer builds it)`, { cause: error })
  }
  if (version === undefined || !isAtLeast(version, oldestGo)) {
    throw new Error(`Go ${version ?? 'of unknown version'} is too old; ${goVersion} or newer builds it`)
  }
}

function lastLines(error: unknown): string {
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  const lines = output.trim().split('\n').slice(-5).join('\n')
  return lines === '' ? messageOf(error) : lines
}
