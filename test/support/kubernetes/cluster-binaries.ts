import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { withFileLock } from '../../../src/dev-server/file-lock.js'
import { cacheDirectory } from '../../../src/platform/cache-directory.js'
import { printProgress } from '../setup/optional-dependency.js'

const run = promisify(execFile)
const source = fileURLToPath(new URL('./binary', import.meta.url))
const buildMs = 60 * 60_000

/** The version of the modules in go.mod, which the programs report. */
const version = '1.34.4'

export interface ClusterBinaries {
  /** etcd and the programs of Kubernetes. */
  readonly programs: string
  /** The process that keeps the namespaces of a pod. */
  readonly pause: string
}

/**
 * The folder of the programs in the cache. Its name follows from all that decides about their bytes: the build is
 * reproducible.
 */
async function binariesFolder(): Promise<string> {
  const { stdout: goVersion } = await run('go', ['version'])
  const hash = createHash('sha256').update(goVersion)
  for (const file of ['go.mod', 'go.sum', 'main.go', 'pause/main.go']) hash.update(await readFile(join(source, file)))
  return join(cacheDirectory(process.env), `one-node-kubernetes-${hash.digest('hex').slice(0, 12)}`)
}

const binariesIn = (folder: string): ClusterBinaries => ({
  programs: join(folder, 'one-node-kubernetes'),
  pause: join(folder, 'pause'),
})

/** The programs, if they were built before. */
export async function builtClusterBinaries(): Promise<ClusterBinaries | undefined> {
  const folder = await binariesFolder()
  return existsSync(folder) ? binariesIn(folder) : undefined
}

/**
 * Builds the programs with Go, once, and stores them in the cache: about ten minutes of a processor. The build gives way
 * to all other work of the machine.
 *
 * @throws Error without Go
 */
export async function buildClusterBinaries(): Promise<ClusterBinaries> {
  const folder = await binariesFolder()
  await mkdir(cacheDirectory(process.env), { recursive: true })
  await withFileLock(`${folder}.lock`, AbortSignal.timeout(buildMs), async () => {
    if (existsSync(folder)) return
    printProgress(`building Kubernetes ${version} for tests with Go: about ten minutes, once`)
    const work = await mkdtemp(`${folder}.`)
    try {
      await cp(source, join(work, 'source'), { recursive: true })
      const names = `-X k8s.io/component-base/version.gitVersion=v${version}`
      const [major, minor] = version.split('.')
      const numbers = ['Major', 'Minor'].map((part, index) => {
        return `-X k8s.io/component-base/version.git${part}=${[major, minor][index]}`
      })
      const flags = ['-mod=mod', '-trimpath', '-ldflags', ['-s', '-w', names, ...numbers].join(' ')]
      const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-p=1' }
      const options = { cwd: join(work, 'source'), env, timeout: buildMs, maxBuffer: 64 * 1024 * 1024 }
      for (const [target, main] of [
        ['one-node-kubernetes', '.'],
        ['pause', './pause'],
      ] as const)
        await run('nice', ['-n', '19', 'go', 'build', ...flags, '-o', join(work, 'built', target), main], options)
      await rename(join(work, 'built'), folder)
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  })
  return binariesIn(folder)
}
