import { access } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { PtcError } from '../common/errors.js'
import { requireTrusted } from '../platform/trusted-path.js'
import { loadEnvironmentFile } from './environment-file.js'
import { importModule } from './import-module.js'
import { parseConfig, type ResolvedConfig } from './parse-config.js'

/** Names in order of preference. */
export const configFileNames = ['ptc.config.ts', 'ptc.config.mts', 'ptc.config.js', 'ptc.config.mjs']

/**
 * Loads and checks a configuration: the given file, or `ptc.config.ts` (.mts, .js, .mjs) in this folder or a parent.
 * Loading runs its code, so a file of another user is rejected unless it is the given file. Sets the variables of the
 * `.env` file next to it, unless they are set.
 *
 * @throws PtcError CONFIG_NOT_FOUND, CONFIG_INVALID, and errors of `defineTool`
 */
export async function loadConfig(
  file: string | undefined,
  folder = process.cwd(),
): Promise<ResolvedConfig & { readonly path: string }> {
  const { value, path, displayPath } = await importConfig(file, folder)
  return { ...parseConfig(value, displayPath, dirname(path)), path }
}

/**
 * Loads the default export of a configuration, without checks.
 *
 * @throws PtcError CONFIG_NOT_FOUND, CONFIG_INVALID, and errors of `defineTool`
 */
export async function importConfig(
  file: string | undefined,
  folder = process.cwd(),
): Promise<{ readonly value: unknown; readonly path: string; readonly displayPath: string }> {
  const path = file === undefined ? await findConfig(folder) : resolve(folder, file)
  const displayPath = relative(folder, path) || path
  if (!(await exists(path))) {
    throw new PtcError('CONFIG_NOT_FOUND', `there is no configuration file ${displayPath}`, {
      hint: 'Check the path given with --config.',
    })
  }
  await loadEnvironmentFile(dirname(path))
  return { value: await importDefault(path, displayPath), path, displayPath }
}

async function importDefault(path: string, displayPath: string): Promise<unknown> {
  const module = await importModule(path, displayPath)
  if (!('default' in module)) {
    throw new PtcError('CONFIG_INVALID', `${displayPath} has no default export`, {
      hint: 'Write `export default defineConfig({ … })`.',
    })
  }
  return module['default']
}

async function findConfig(folder: string): Promise<string> {
  for (let current = resolve(folder); ; current = dirname(current)) {
    for (const name of configFileNames) {
      const path = join(current, name)
      if (!(await exists(path))) continue
      requireTrusted(path, relative(folder, path), `If you trust it, name it: --config ${relative(folder, path)}`)
      return path
    }
    if (dirname(current) === current) break
  }
  throw new PtcError('CONFIG_NOT_FOUND', 'no ptc.config.ts in this folder or one above', {
    hint: 'Write one with `ptc init`, or give its path with --config.',
  })
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
