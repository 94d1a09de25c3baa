import { access } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { messageOf, PtcError } from '../common/errors.js'
import { requireTrusted } from '../platform/trusted-path.js'
import { cachedCompiler } from './compile-cache.js'
import { loadEnvironmentFile } from './environment-file.js'
import { parseConfig, type ResolvedConfig } from './parse-config.js'

/** Names in order of preference. */
export const configFileNames = ['ptc.config.ts', 'ptc.config.mts', 'ptc.config.js', 'ptc.config.mjs']

const packageFile = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Makes a configuration's `import … from 'durable-ptc'` load this copy of the package. */
const alias = {
  'durable-ptc/sandbox': packageFile('../sandbox/index.js'),
  'durable-ptc/testing': packageFile('../testing/index.js'),
  'durable-ptc': packageFile('../index.js'),
}

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
  const path = file === undefined ? await findConfig(folder) : resolve(folder, file)
  const displayPath = relative(folder, path) || path
  if (!(await exists(path))) {
    throw new PtcError('CONFIG_NOT_FOUND', `there is no configuration file ${displayPath}`, {
      hint: 'Check the path given with --config.',
    })
  }
  await loadEnvironmentFile(dirname(path))
  return { ...parseConfig(await importDefault(path, displayPath), displayPath, dirname(path)), path }
}

async function importDefault(path: string, displayPath: string): Promise<unknown> {
  // jiti's own cache is off: with a full disk it would keep the worker from starting.
  const options = { alias, moduleCache: true, fsCache: false, interopDefault: false }
  const compiler = createJiti(path, options)
  const jiti = createJiti(path, { ...options, transform: cachedCompiler((source) => compiler.transform(source)) })
  let module: unknown
  try {
    module = await jiti.import(path)
  } catch (thrown) {
    if (PtcError.isInstance(thrown)) throw thrown
    throw loadError(displayPath, thrown)
  }
  if (typeof module !== 'object' || module === null || !('default' in module)) {
    throw new PtcError('CONFIG_INVALID', `${displayPath} has no default export`, {
      hint: 'Write `export default defineConfig({ … })`.',
    })
  }
  return module.default
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

/** The error without the require stack in Node's message. */
function loadError(displayPath: string, cause: unknown): PtcError {
  const message = messageOf(cause).split('\nRequire stack:')[0] ?? ''
  const missing = /^Cannot find (?:module|package) '(@[^/']+\/[^/']+|[^./'][^/']*)/.exec(message)?.[1]
  const hint = missing === undefined ? {} : { hint: `Install it where the configuration is: npm install ${missing}` }
  return new PtcError('CONFIG_INVALID', `${displayPath} can't be loaded: ${message}`, { cause, ...hint })
}
