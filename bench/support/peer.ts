import { spawn } from 'node:child_process'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { BenchContext } from './benchmark.js'

/** Folder of the drivers of peers. */
export const peers = fileURLToPath(new URL('../peers/', import.meta.url))

/** Another project in its own process. Each command returns its milliseconds there. */
export interface Peer<Command extends string> {
  readonly version: string
  command(name: Command): Promise<number>
}

/** Starts a driver, which reads a command per line and prints its milliseconds. */
export function startDriver<Command extends string>(
  { name, version }: { readonly name: string; readonly version: string },
  [program, ...programArguments]: readonly [string, ...string[]],
  { defer }: BenchContext,
): Peer<Command> {
  const child = spawn(program, programArguments, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  defer(() => child.kill())
  return {
    version,
    async command(command) {
      child.stdin.write(`${command}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`${name} ended during the command ${command}; see above`)
      return Number(value)
    },
  }
}

/**
 * Installs a peer into a folder of the cache, once.
 *
 * @returns the folder
 */
export async function ensureInstalled(
  name: string,
  { progress }: BenchContext,
  install: (folder: string) => Promise<unknown>,
): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const folder = join(cache, 'durable-ptc', name)
  const marker = join(folder, 'installed')
  const isInstalled = await access(marker).then(
    () => true,
    () => false,
  )
  if (isInstalled) return folder
  progress(`installing ${name} into ${folder}`)
  await mkdir(folder, { recursive: true })
  await install(folder)
  await writeFile(marker, '')
  return folder
}
