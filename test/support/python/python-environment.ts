import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cacheDirectory } from '../../../src/platform/cache-directory.js'
import { withFileLock } from '../../../src/dev-server/file-lock.js'
import { optionalDependency, printProgress } from '../setup/optional-dependency.js'

const run = promisify(execFile)
const workerRequirements = fileURLToPath(
  new URL('../../../examples/python-tool-worker/requirements.txt', import.meta.url),
)
const installMs = 10 * 60_000

/**
 * Python with packages, by default those of Temporal's SDK. They are installed once into the cache folder, with pip.
 * PTC_TEST_PYTHON is `required`, `auto` (default: when it is unavailable, tests that need it are skipped with a
 * message) or `off`.
 *
 * @param options of `pip install`
 * @returns the folder of packages for PYTHONPATH; undefined when the tests must be skipped
 * @throws Error when it is required and unavailable
 */
export function pythonPackages(
  requirements = workerRequirements,
  what = "Temporal's SDK for Python",
  options: readonly string[] = [],
): Promise<string | undefined> {
  return optionalDependency('PTC_TEST_PYTHON', what, () => install(requirements, what, options))
}

async function install(requirements: string, what: string, options: readonly string[]): Promise<string> {
  const { stdout: version } = await run('python3', ['--version'])
  const digest = createHash('sha256')
    .update(version)
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12)
  const folder = join(cacheDirectory(process.env), `python-packages-${digest}`)
  if (await exists(folder)) return folder
  await mkdir(dirname(folder), { recursive: true })
  await withFileLock(`${folder}.lock`, AbortSignal.timeout(installMs), async () => {
    if (!(await exists(folder))) await installInto(folder, requirements, what, options)
  })
  return folder
}

/** The result is created by rename, so that it is complete. */
async function installInto(
  folder: string,
  requirements: string,
  what: string,
  options: readonly string[],
): Promise<void> {
  printProgress(`installing ${what} for tests: a few minutes, once`)
  const unfinished = await mkdtemp(`${folder}-`)
  try {
    await run(
      'python3',
      [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--target',
        unfinished,
        ...options,
        '-r',
        requirements,
      ],
      { timeout: installMs },
    )
    await rename(unfinished, folder)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
