import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { TransformOptions, TransformResult } from 'jiti'
import { cacheDirectory } from '../platform/cache-directory.js'
import { requireTrusted } from '../platform/trusted-path.js'
import { makeFolderSync } from '../platform/make-folder.js'

/** Mark of jiti in code that it could not compile. */
const compileError = '__JITI_ERROR__'

/**
 * Caches compiled configurations in the user's cache folder, because loading jiti's compiler takes a sixth of the start
 * of a command. A cached file is used only for the same source, and only when this user owns it. A failure to read or
 * write it is ignored: with a full disk, a worker still starts.
 */
export function cachedCompiler(
  compile: (options: TransformOptions) => string,
): (options: TransformOptions) => TransformResult {
  return (options) => {
    const header = `// ${hash(JSON.stringify([jitiVersion(), options]))}\n`
    const path = cacheFile(options.filename ?? '')
    const cached = readTrusted(path)
    if (cached?.startsWith(header) === true) return { code: cached.slice(header.length) }
    const code = compile(options)
    if (!code.includes(compileError)) tryWrite(path, header + code)
    return { code }
  }
}

/** One of 256 files, so that the cache does not grow. Two sources with the same file replace each other. */
function cacheFile(source: string): string {
  return join(cacheDirectory(process.env), 'configurations', `${hash(source).slice(0, 2)}.js`)
}

function readTrusted(path: string): string | undefined {
  try {
    requireTrusted(path, path, '')
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function tryWrite(path: string, text: string): void {
  const temporaryFile = `${path}.${process.pid}`
  try {
    makeFolderSync(dirname(path), 0o700)
    writeFileSync(temporaryFile, text, { mode: 0o600 })
    renameSync(temporaryFile, path)
  } catch {
    // The next command compiles again.
  }
}

function jitiVersion(): unknown {
  return (createRequire(import.meta.url)('jiti/package.json') as { readonly version: unknown }).version
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
