import { digestJson } from '../../common/calls/call-identity.js'

const maxCharacters = 64
const digestCharacters = 8

/** A tool of a source, before it has a name for models and code. */
export interface NamedBySource {
  /** Identity within the source, of which the digest is. */
  readonly key: string
  /** The source's own name. Two tools may have the same. */
  readonly name: string
}

/**
 * The names of a source's tools for models and code, by their keys: `{source}__{name}`, with `_` for a character that an
 * identifier may not have. A name that is too long, or that another tool would have, too, ends with a part of the digest
 * of the key. A name depends on the set of the tools, not on their order.
 */
export function sourceToolNames(source: string, tools: readonly NamedBySource[]): ReadonlyMap<string, string> {
  const unchanged = tools.map(({ name }) => `${source}__${name}`)
  const plain = unchanged.map((name) => name.replaceAll(/[^A-Za-z0-9_]/g, '_'))
  const [unchangedCount, plainCount] = [countOf(unchanged), countOf(plain)]
  return new Map(
    tools.map(({ key }, index) => {
      const [name = '', own = ''] = [plain[index], unchanged[index]]
      const isUnique = plainCount.get(name) === 1 || (name === own && unchangedCount.get(own) === 1)
      return [key, isUnique && name.length <= maxCharacters ? name : withDigest(name, key)]
    }),
  )
}

function countOf(names: readonly string[]): ReadonlyMap<string, number> {
  const count = new Map<string, number>()
  for (const name of names) count.set(name, (count.get(name) ?? 0) + 1)
  return count
}

function withDigest(name: string, key: string): string {
  const digest = digestJson(key).slice(0, digestCharacters)
  return `${name.slice(0, maxCharacters - digestCharacters - 1)}_${digest}`
}
