import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { withFileLock } from '../../../src/dev-server/file-lock.js'
import { cacheDirectory } from '../../../src/platform/cache-directory.js'
import { optionalDependency, printProgress } from '../setup/optional-dependency.js'

const source = fileURLToPath(new URL('./custom-resources', import.meta.url))
const buildMs = 15 * 60_000

/** The path of a program that refuses files whose objects do not fit the Go types of KEDA and the Prometheus operator. */
export const customResourceTypes = optionalDependency('PTC_TEST_DEPLOY', 'the types of custom resources', build)

/** Built once with Go, into the cache folder. The name follows from the source. */
async function build(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(join(source, file)))
  const target = join(cacheDirectory(process.env), `custom-resources-${hash.digest('hex').slice(0, 12)}`)
  await mkdir(cacheDirectory(process.env), { recursive: true })
  await withFileLock(`${target}.lock`, AbortSignal.timeout(buildMs), async () => {
    if (existsSync(target)) return
    printProgress('building the types of custom resources for tests with Go: about 2 minutes, once')
    const unfinished = `${target}.${process.pid}`
    await promisify(execFile)('go', ['build', '-mod=readonly', '-trimpath', '-o', unfinished, '.'], {
      cwd: source,
      env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
      timeout: buildMs,
      maxBuffer: 64 * 1024 * 1024,
    })
    await rename(unfinished, target)
  })
  return target
}
