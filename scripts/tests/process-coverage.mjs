// Reads the coverage that Node writes for processes and threads (NODE_V8_COVERAGE) and maps it to lines of `src`.
import { readdirSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @param {string} folder the value of NODE_V8_COVERAGE
 * @param {{ dist: string, maps: string, root: string }} paths `maps`: the output of the compiler with source maps
 * @returns {Map<string, Set<number>>} the lines that ran, by paths in the repository
 */
export function linesOfProcesses(folder, { dist, maps, root }) {
  const bundle = join(dist, 'workflow-bundle.js')
  const scripts = new Map()
  for (const name of readdirSync(folder)) {
    const { result = [] } = readJson(join(folder, name)) ?? {}
    for (const { url, functions } of result) {
      const path = scriptPath(url, dist, bundle)
      if (path === undefined) continue
      let script = scripts.get(path)
      if (script === undefined) scripts.set(path, (script = newScript(path)))
      markCovered(script, functions)
    }
  }
  const lines = new Map()
  const toSource = sourceFinder(dist, maps, root)
  for (const [path, script] of scripts) {
    const find = path === bundle ? bundleFinder(script.code, toSource) : (line, column) => toSource(path, line, column)
    for (const position of coveredPositions(script)) {
      const source = find(...position)
      if (source === undefined) continue
      if (!lines.has(source.path)) lines.set(source.path, new Set())
      lines.get(source.path).add(source.line)
    }
  }
  return lines
}

/** Returns undefined for a partial file, which a process leaves when it is killed while writing. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** The path of a script. Temporal names the bundle of workflows by its hash. */
function scriptPath(url, dist, bundle) {
  if (/workflow-bundle[^/]*\.js$/.test(url)) return bundle
  if (!url.startsWith('file:')) return undefined
  const path = fileURLToPath(url)
  return path.startsWith(`${dist}/`) && path.endsWith('.js') ? path : undefined
}

function newScript(path) {
  const code = readFileSync(path, 'utf8')
  return { code, covered: new Uint8Array(code.length) }
}

/** An inner range overrides the outer one. */
function markCovered({ covered }, functions) {
  const ranges = functions.flatMap((each) => each.ranges)
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
  const own = new Uint8Array(covered.length)
  for (const { startOffset, endOffset, count } of ranges) own.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  for (const [offset, isCovered] of own.entries()) if (isCovered === 1) covered[offset] = 1
}

/** Line and column, from 0, of each covered word. */
function* coveredPositions({ code, covered }) {
  let start = 0
  for (const [line, text] of code.split('\n').entries()) {
    // The source map of the bundle is one long comment.
    if (!text.startsWith('//# sourceMappingURL')) {
      for (const { index } of text.matchAll(/\w+/g)) if (covered[start + index] === 1) yield [line, index]
    }
    start += text.length + 1
  }
}

/** Finds a position of a file of `dist` in `src`. */
function sourceFinder(dist, maps, root) {
  const cache = new Map()
  return (path, line, column) => {
    const file = join(maps, `${relative(dist, path)}.map`)
    if (!cache.has(file)) {
      const payload = readJson(file)
      cache.set(file, payload && new SourceMap(payload))
    }
    const entry = cache.get(file)?.findEntry(line, column)
    if (entry?.originalSource === undefined || entry.generatedLine !== line) return undefined
    const source = resolve(dirname(file), entry.originalSource)
    return { path: relative(root, source), line: entry.originalLine + 1 }
  }
}

/** Finds a position of the bundle in `dist`, and from there in `src`. */
function bundleFinder(code, toSource) {
  const [, encoded] =
    /\/\/# sourceMappingURL=data:[^,]*base64,(\S+)\s*$/.exec(code.slice(code.lastIndexOf('\n//#'))) ?? []
  if (encoded === undefined) return () => undefined
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')))
  return (line, column) => {
    const entry = map.findEntry(line, column)
    if (entry?.originalSource === undefined || entry.generatedLine !== line) return undefined
    const [, path] = /(?:webpack:\/\/[^/]*)?(\/.*\/dist\/.*\.js)$/.exec(entry.originalSource) ?? []
    return path && toSource(path, entry.originalLine, entry.originalColumn)
  }
}
