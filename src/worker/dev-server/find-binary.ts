import { constants } from 'node:fs'
import { access, mkdir, readdir, rm } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { PtcError, messageOf } from '../../common/errors.js'
import { buildWithGo } from './build-with-go.js'
import type { Environment } from '../../sandbox/cache-directory.js'
import { cachedBinary, executableSuffix } from './cached-binary.js'
import { checkBinary, cliVersion } from './cli-version.js'
import { download } from './download.js'
import { hasCode, withFileLock } from './file-lock.js'

export interface FindBinaryOptions {
  readonly environment: Environment
  readonly onProgress: (line: string) => void
  readonly signal: AbortSignal
  /** Where to download from; Temporal's own host unless given. */
  readonly downloadHost?: string
}

interface Way {
  readonly name: string
  /** Gives the path of a checked binary, or throws an Error that says why this way is closed. */
  find(): Promise<string>
}

/**
 * The Temporal CLI: our cached copy, `temporal` on PATH, a download, or built with Go, in this order.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE with what each way said, when none led to one
 */
export async function findBinary(options: FindBinaryOptions): Promise<string> {
  const failures: string[] = []
  const found = (await firstOf(waysToFind(options), failures, options)) ?? (await getOne(failures, options))
  if (found !== undefined) return found
  throw new PtcError('TEMPORAL_UNREACHABLE', `no Temporal server can be had here\n${failures.join('\n')}`, {
    hint:
      'Install the Temporal CLI (https://docs.temporal.io/cli#install) so that `temporal` is on PATH, ' +
      'or set TEMPORAL_ADDRESS to the host:port of a running server.',
  })
}

/** Of several processes that need a binary at the same time one gets it; the others wait and use it. */
async function getOne(failures: string[], options: FindBinaryOptions): Promise<string | undefined> {
  const target = cachedBinary(options.environment)
  await mkdir(dirname(target), { recursive: true })
  return withFileLock(`${target}.lock`, options.signal, async () => {
    await removeUnfinished(dirname(target))
    const [cached] = waysToFind(options)
    const meanwhile = await firstOf(cached === undefined ? [] : [cached], [], { ...options, onProgress: () => {} })
    return meanwhile ?? (await firstOf(waysToGet(target, options), failures, options))
  })
}

async function firstOf(ways: readonly Way[], failures: string[], { onProgress, signal }: FindBinaryOptions) {
  for (const way of ways) {
    try {
      const path = await way.find()
      onProgress(`Temporal CLI: ${way.name}, ${path}`)
      return path
    } catch (error) {
      signal.throwIfAborted()
      onProgress(`Temporal CLI: ${way.name}: ${firstLine(messageOf(error))}`)
      failures.push(`  ${way.name}: ${messageOf(error)}`)
    }
  }
  return undefined
}

function waysToFind({ environment, signal }: FindBinaryOptions): readonly Way[] {
  return [
    {
      name: 'cached copy',
      async find() {
        const path = cachedBinary(environment)
        if (!(await isExecutable(path))) throw new Error('none yet')
        await checkBinary(path, signal)
        return path
      },
    },
    {
      name: 'temporal on PATH',
      async find() {
        const path = await onPath(environment)
        await checkBinary(path, signal)
        return path
      },
    },
  ]
}

function waysToGet(target: string, options: FindBinaryOptions): readonly Way[] {
  const { environment, onProgress, signal, downloadHost } = options
  return [
    {
      name: `download of ${cliVersion}`,
      async find() {
        onProgress(`downloading the Temporal CLI ${cliVersion}, once`)
        await download({ target, onProgress, signal, ...(downloadHost === undefined ? {} : { host: downloadHost }) })
        await checkBinary(target, signal)
        return target
      },
    },
    {
      name: `build of ${cliVersion} with Go`,
      async find() {
        onProgress(`building the Temporal CLI ${cliVersion} with Go: about 4 minutes, once`)
        await buildWithGo({ target, environment, onProgress, signal })
        await checkBinary(target, signal)
        return target
      },
    },
  ]
}

async function onPath(environment: Environment): Promise<string> {
  const folders = (environment['PATH'] ?? environment['Path'] ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const folder of folders) {
    const path = join(folder, `temporal${executableSuffix}`)
    if (await isExecutable(path)) return path
  }
  throw new Error('not there')
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EACCES') || hasCode(error, 'ENOTDIR')) return false
    throw error
  }
}

/** Folders of a download or build that was killed; safe to remove because we hold the lock. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (/^(download|go-build)-/.test(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
