import { execFile } from 'node:child_process'
import { access, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheDirectory } from '../../../src/platform/cache-directory.js'
import { executableSuffix } from '../../../src/dev-server/temporal-cli.js'
import { withFileLock } from '../../../src/dev-server/file-lock.js'
import { printProgress } from './optional-dependency.js'

const run = promisify(execFile)
const buildMs = 15 * 60_000

export interface GoProgram {
  readonly name: string
  readonly version: string
  /** The Go package with its `main`, without a version. */
  readonly package: string
  readonly tags?: string
  /** Expected duration of the build, for progress messages. */
  readonly buildTime: string
}

/** The path of a program that tests need. It is built once with Go, and stored in the cache folder. */
export async function buildWithGo(program: GoProgram): Promise<string> {
  const target = join(cacheDirectory(process.env), `${program.name}-${program.version}${executableSuffix}`)
  if (await isExecutable(target)) return target
  await mkdir(dirname(target), { recursive: true })
  await withFileLock(`${target}.lock`, AbortSignal.timeout(buildMs), async () => {
    if (!(await isExecutable(target))) await build(program, target)
  })
  return target
}

/** The result is created by rename, so that it is complete. */
async function build({ name, version, package: main, tags = '', buildTime }: GoProgram, target: string): Promise<void> {
  printProgress(`building ${name} ${version} for tests with Go: ${buildTime}, once`)
  const folder = await mkdtemp(join(dirname(target), 'go-build-'))
  try {
    await run('go', ['install', '-trimpath', '-tags', tags, '-ldflags', '-s -w', `${main}@v${version}`], {
      env: { ...process.env, GOBIN: folder, CGO_ENABLED: '0', GOWORK: 'off' },
      timeout: buildMs,
      maxBuffer: 64 * 1024 * 1024,
    })
    // Its name is not always the last part of the package: that of `…/kustomize/v5` is `kustomize`.
    const [executable = ''] = await readdir(folder)
    await rename(join(folder, executable), target)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
