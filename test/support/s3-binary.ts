import { execFile } from 'node:child_process'
import { access, constants, mkdtemp, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../../src/common/errors.js'
import { cacheDirectory, executableSuffix } from '../../src/worker/dev-server/cache-directory.js'
import { withFileLock } from '../../src/worker/dev-server/file-lock.js'

const run = promisify(execFile)
const version = '1.8.0'
const goPackage = `github.com/versity/versitygw/cmd/versitygw@v${version}`
const buildMs = 15 * 60_000
const modes = ['required', 'auto', 'off'] as const

/**
 * A server that speaks S3, for tests: Versity's gateway to a folder. Built with Go, once, and kept with what else can be had
 * again. As PTC_TEST_S3 says: `required`, `auto` (default: without one the tests say so and are skipped), `off`.
 *
 * @returns its path; undefined when the tests are to be skipped
 * @throws Error when it is required and can't be had
 */
export async function s3Binary(): Promise<string | undefined> {
  const mode = modeOf(process.env['PTC_TEST_S3'] ?? 'auto')
  if (mode === 'off') {
    tell('S3 is off (PTC_TEST_S3=off): the tests that need it are skipped')
    return undefined
  }
  try {
    return await findOrBuild()
  } catch (thrown) {
    const problem = `no S3 server can be had: ${messageOf(thrown)}`
    if (mode === 'required') throw new Error(`PTC_TEST_S3=required, but ${problem}`, { cause: thrown })
    tell(`${problem}: the tests that need it are skipped (PTC_TEST_S3=required makes this an error)`)
    return undefined
  }
}

function modeOf(wanted: string): (typeof modes)[number] {
  const mode = modes.find((known) => known === wanted)
  if (mode === undefined) throw new Error(`PTC_TEST_S3 is ${wanted}; it can be ${modes.join(', ')}`)
  return mode
}

async function findOrBuild(): Promise<string> {
  const target = join(cacheDirectory(process.env), `versitygw-${version}${executableSuffix}`)
  if (await isExecutable(target)) return target
  await mkdir(dirname(target), { recursive: true })
  await withFileLock(`${target}.lock`, AbortSignal.timeout(buildMs), async () => {
    if (!(await isExecutable(target))) await build(target)
  })
  return target
}

/** The result appears by rename: complete or not at all. */
async function build(target: string): Promise<void> {
  tell(`building the S3 server for tests (versitygw ${version}) with Go: about 2 minutes, once`)
  const folder = await mkdtemp(join(dirname(target), 'go-build-'))
  try {
    await run('go', ['install', '-trimpath', '-ldflags', '-s -w', goPackage], {
      env: { ...process.env, GOBIN: folder, CGO_ENABLED: '0', GOWORK: 'off' },
      timeout: buildMs,
      maxBuffer: 64 * 1024 * 1024,
    })
    await rename(join(folder, `versitygw${executableSuffix}`), target)
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

function tell(line: string): void {
  console.error(`› ${line}`)
}
