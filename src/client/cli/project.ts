import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { PtcError } from '../../common/errors.js'
import { configNames, loadConfig } from '../../worker/config/load-config.js'

const marks = ['.ptc', ...configNames]

/** Where the dev server of this project keeps its state: `.ptc` beside the configuration, else in this folder. */
export function stateDirectory(folder = process.cwd()): string {
  for (let current = resolve(folder); ; current = dirname(current)) {
    if (marks.some((name) => existsSync(join(current, name)))) return join(current, '.ptc')
    if (dirname(current) === current) return join(resolve(folder), '.ptc')
  }
}

/** The configuration that belongs to this state; undefined when there is none. It is not loaded: that would run its code. */
export function configBeside(state: string): string | undefined {
  return configNames.map((name) => join(dirname(state), name)).find((path) => existsSync(path))
}

export type LoadedConfig = Awaited<ReturnType<typeof loadConfig>>

/**
 * The configuration if there is one: whoever only looks at runs needs none.
 *
 * @throws PtcError CONFIG_INVALID …; CONFIG_NOT_FOUND only for a file that was named
 */
export async function findConfig(file: string | undefined): Promise<LoadedConfig | undefined> {
  try {
    return await loadConfig(file)
  } catch (thrown) {
    if (file === undefined && PtcError.isInstance(thrown) && thrown.code === 'CONFIG_NOT_FOUND') return undefined
    throw thrown
  }
}
