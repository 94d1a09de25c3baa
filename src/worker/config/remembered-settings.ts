import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { cacheDirectory } from '../../sandbox/cache-directory.js'
import type { StoreSettings } from '../../values/settings.js'
import type { ResolvedConfig } from './parse-config.js'
import { parseStore } from './values-option.js'

/** What a command that only reads has to know of a configuration. */
export interface ReadSettings {
  readonly taskQueue: string
  readonly store: StoreSettings
}

const shape = z.object({ taskQueue: z.string().min(1), store: z.unknown() })

/**
 * Notes what a project's configuration says, so that a command that only reads need not run the configuration's code. The note is in the
 * user's cache folder and not in the project: a repository can't bring it along. What can't be written is not remembered.
 */
export async function rememberSettings(
  state: string,
  { taskQueue, values }: Pick<ResolvedConfig, 'taskQueue' | 'values'>,
): Promise<void> {
  const path = noteOf(state)
  const unfinished = `${path}.${process.pid}`
  const note: ReadSettings = { taskQueue, store: values.store }
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(unfinished, JSON.stringify(note), { mode: 0o600 })
    await rename(unfinished, path)
  } catch {
    // A cache: without the note, --config names the configuration.
  }
}

/** What was noted last; undefined when nothing was, or it can't be read. */
export async function rememberedSettings(state: string): Promise<ReadSettings | undefined> {
  try {
    const { taskQueue, store } = shape.parse(JSON.parse(await readFile(noteOf(state), 'utf8')))
    return { taskQueue, store: parseStore(store, dirname(state)) }
  } catch {
    return undefined
  }
}

function noteOf(state: string): string {
  const name = createHash('sha256').update(state).digest('hex').slice(0, 32)
  return join(cacheDirectory(process.env), 'projects', `${name}.json`)
}
