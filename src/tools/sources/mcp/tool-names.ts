import { digestJson } from '../../../common/calls/call-identity.js'

const maxCharacters = 64
const digestCharacters = 8

/**
 * The names of a server's tools for models and code, by the server's own names: `{server}__{tool}`, with `_` for a
 * character that an identifier may not have. A name that is too long, or that another tool would have, too, ends with a
 * part of the digest of the server's own name. A name depends on the set of the tools, not on their order.
 */
export function mcpToolNames(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const plain = tools.map((tool) => `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_]/g, '_'))
  const count = new Map<string, number>()
  for (const name of plain) count.set(name, (count.get(name) ?? 0) + 1)
  return new Map(
    tools.map((tool, index) => {
      const name = plain[index] ?? ''
      const isOwn = name === `${server}__${tool}` || count.get(name) === 1
      return [tool, isOwn && name.length <= maxCharacters ? name : withDigest(name, tool)]
    }),
  )
}

function withDigest(name: string, tool: string): string {
  const digest = digestJson(tool).slice(0, digestCharacters)
  return `${name.slice(0, maxCharacters - digestCharacters - 1)}_${digest}`
}
