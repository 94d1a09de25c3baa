import { access } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { messageOf, PtcError } from '../../common/errors.js'
import { requireTrusted } from '../trusted-path.js'
import { parseConfig, type ResolvedConfig } from './parse-config.js'

/** In the order in which they are looked for. */
export const configNames = ['ptc.config.ts', 'ptc.config.mts', 'ptc.config.js', 'ptc.config.mjs']

const entry = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** This package's own entries, so that a configuration's `import … from 'durable-ptc'` is this very copy. */
const alias = {
  'durable-ptc/sandbox': entry('../../sandbox/index.js'),
  'durable-ptc/testing': entry('../../testing/index.js'),
  'durable-ptc': entry('../../index.js'),
}

/**
 * Loads and checks a configuration: the given file, or `ptc.config.ts` (.mts, .js, .mjs) in this folder or one above. Loading runs
 * its code: one of another user is refused, unless it is the given file.
 *
 * @throws PtcError CONFIG_NOT_FOUND, CONFIG_INVALID, and what `defineTool` throws
 */
export async function loadConfig(
  file: string | undefined,
  folder = process.cwd(),
): Promise<ResolvedConfig & { readonly path: string }> {
  const path = file === undefined ? await findConfig(folder) : resolve(folder, file)
  const shown = relative(folder, path) || path
  if (!(await exists(path))) {
    throw new PtcError('CONFIG_NOT_FOUND', `there is no configuration file ${shown}`, {
      hint: 'Check the path given with --config.',
    })
  }
  return { ...parseConfig(await importDefault(path, shown), shown, dirname(path)), path }
}

async function importDefault(path: string, shown: string): Promise<unknown> {
  // Without its cache of what it has compiled: that is in the temporary folder, and a full one would keep a worker from starting.
  const jiti = createJiti(path, { alias, moduleCache: true, fsCache: false, interopDefault: false })
  let module: unknown
  try {
    module = await jiti.import(path)
  } catch (thrown) {
    if (PtcError.isInstance(thrown)) throw thrown
    throw cannotLoad(shown, thrown)
  }
  if (typeof module !== 'object' || module === null || !('default' in module)) {
    throw new PtcError('CONFIG_INVALID', `${shown} has no default export`, {
      hint: 'Write `export default defineConfig({ … })`.',
    })
  }
  return module.default
}

async function findConfig(folder: string): Promise<string> {
  for (let current = resolve(folder); ; current = dirname(current)) {
    for (const name of configNames) {
      const path = join(current, name)
      if (!(await exists(path))) continue
      requireTrusted(path, relative(folder, path), `If you trust it, name it: --config ${relative(folder, path)}`)
      return path
    }
    if (dirname(current) === current) break
  }
  throw new PtcError('CONFIG_NOT_FOUND', 'no ptc.config.ts in this folder or one above', {
    hint: 'Write one (the README shows how), or give its path with --config.',
  })
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Node's message goes on with a stack of files that says nothing to the reader. */
function cannotLoad(shown: string, cause: unknown): PtcError {
  const message = messageOf(cause).split('\nRequire stack:')[0] ?? ''
  const missing = /^Cannot find (?:module|package) '(@[^/']+\/[^/']+|[^./'][^/']*)/.exec(message)?.[1]
  const hint = missing === undefined ? {} : { hint: `Install it beside the configuration: npm install ${missing}` }
  return new PtcError('CONFIG_INVALID', `${shown} can't be loaded: ${message}`, { cause, ...hint })
}
