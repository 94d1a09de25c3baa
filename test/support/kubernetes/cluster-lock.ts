import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from '../../../src/platform/cache-directory.js'

/** One cluster for tests at a time on this machine. The kernel frees the lock when the process of a test is killed. */
export class ClusterLock {
  readonly #holder: ChildProcessWithoutNullStreams

  private constructor(holder: ChildProcessWithoutNullStreams) {
    this.#holder = holder
  }

  /** Waits for the cluster of another test file. */
  static async acquire(): Promise<ClusterLock> {
    // `cat` ends with the input, and so with this process.
    const holder = spawn('flock', [pathOf('lock'), '--command', 'echo locked; cat'])
    holder.stdin.on('error', () => undefined)
    await once(holder.stdout, 'data')
    return new ClusterLock(holder)
  }

  /** Notes the folder of the cluster that starts. Returns that of a cluster whose test was killed. */
  async takeFolder(folder: string): Promise<string | undefined> {
    const left = await readFile(pathOf('folder'), 'utf8').catch(() => '')
    await writeFile(pathOf('folder'), folder)
    return left !== '' && existsSync(left) ? left : undefined
  }

  async release(): Promise<void> {
    const ended = once(this.#holder, 'exit')
    this.#holder.stdin.end()
    await ended
  }
}

function pathOf(what: 'lock' | 'folder'): string {
  return join(cacheDirectory(process.env), `one-node-kubernetes.${what}`)
}
