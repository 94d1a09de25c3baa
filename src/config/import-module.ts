import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { messageOf, PtcError } from '../common/errors.js'
import { cachedCompiler } from './compile-cache.js'

const packageFile = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Makes a configuration's `import … from 'durable-ptc'` load this copy of the package. */
const alias = {
  'durable-ptc/sandbox': packageFile('../sandbox/index.js'),
  'durable-ptc/testing': packageFile('../testing/index.js'),
  'durable-ptc': packageFile('../index.js'),
}

/**
 * Loads a module of TypeScript or JavaScript, and runs its code.
 *
 * @param displayPath the path for messages
 * @throws PtcError CONFIG_INVALID, and errors of `defineTool`
 */
export async function importModule(path: string, displayPath: string): Promise<Readonly<Record<string, unknown>>> {
  // jiti's own cache is off: with a full disk it would keep the worker from starting.
  const options = { alias, moduleCache: true, fsCache: false, interopDefault: false }
  const compiler = createJiti(path, options)
  const jiti = createJiti(path, { ...options, transform: cachedCompiler((source) => compiler.transform(source)) })
  try {
    const module: unknown = await jiti.import(path)
    // A module of CommonJS may export any value.
    return typeof module === 'object' && module !== null ? { ...module } : {}
  } catch (thrown) {
    if (PtcError.isInstance(thrown)) throw thrown
    throw loadError(displayPath, thrown)
  }
}

/** The error without the require stack in Node's message. */
function loadError(displayPath: string, cause: unknown): PtcError {
  const message = messageOf(cause).split('\nRequire stack:')[0] ?? ''
  const missing = /^Cannot find (?:module|package) '(@[^/']+\/[^/']+|[^./'][^/']*)/.exec(message)?.[1]
  const hint = missing === undefined ? {} : { hint: `Install it where the configuration is: npm install ${missing}` }
  return new PtcError('CONFIG_INVALID', `${displayPath} can't be loaded: ${message}`, { cause, ...hint })
}
