import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { withFileLock } from '../../../src/dev-server/file-lock.js'
import { cacheDirectory } from '../../../src/platform/cache-directory.js'
import { printProgress } from '../setup/optional-dependency.js'

const run = promisify(execFile)
const fetchMs = 5 * 60_000

/**
 * One file of a package that is too large to be a dependency: with all of its files, `@octokit/openapi` has 385 MB. The
 * file is fetched once into the cache folder.
 *
 * @param version of the package, so that the file never changes
 */
export async function fileOfPackage(name: string, version: string, file: string): Promise<string> {
  const path = join(cacheDirectory(process.env), 'packages', `${name}-${version}`, file)
  await mkdir(dirname(path), { recursive: true })
  await withFileLock(`${path}.lock`, AbortSignal.timeout(fetchMs), async () => {
    if (!(await exists(path))) await fetchFile(`${name}@${version}`, file, path)
  })
  return path
}

/** The result is created by rename, so that it is complete. */
async function fetchFile(spec: string, file: string, path: string): Promise<void> {
  printProgress(`fetching ${file} of ${spec} for tests, once`)
  const folder = await mkdtemp(`${path}-`)
  try {
    const options = { cwd: folder, timeout: fetchMs }
    const { stdout } = await run('npm', ['pack', '--silent', spec], options)
    await run('tar', ['-xzf', stdout.trim(), `package/${file}`], options)
    await rename(join(folder, 'package', file), path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** The OpenAPI document of GitHub, with over 1,200 operations. */
export function gitHubDocument(): Promise<string> {
  return fileOfPackage('@octokit/openapi', '23.0.2', 'generated/api.github.com.json')
}
