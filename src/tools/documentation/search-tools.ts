import { isJsonObject, type JsonValue } from '../../common/json/json.js'
import { defaultLanguage, type Language } from '../../languages/index.js'
import type { ToolDocumentation } from './document-tools.js'

/** Maximum number of tools whose documentation a search returns. */
const maxFound = 8

/** Parameters of BM25: how soon repeated words stop counting, and how much the length of a text counts. */
const k1 = 1.2
const b = 0.75

/** A word in the name of a tool counts as much as this many words in its description. */
const nameWeight = 3

/** Tools below this share of the best score match words that nearly every tool has. */
const leastShare = 1 / 4

interface FoundTools {
  /** In order of relevance. */
  readonly found: readonly ToolDocumentation[]
  /** Names of other matching tools. */
  readonly others: readonly string[]
}

/** Finds tools by their exact names, and then by the words of names, descriptions and parameters (Okapi BM25). */
export function findTools(tools: readonly ToolDocumentation[], query: string): FoundTools {
  const names = new Set(query.match(/[\p{L}\p{N}_]+/gu) ?? [])
  // Names of some tools have characters that are not in words.
  const written = new Set(query.split(/[\s,;()'"`]+/))
  const exact = tools.filter(({ name, codeName }) => names.has(codeName ?? name) || written.has(name))
  // Every word except those that name a tool.
  const words = wordsOf(
    [...names].filter((name) => !exact.some((tool) => (tool.codeName ?? tool.name) === name)).join(' '),
  )
  const ranked = rank(tools, words).filter((tool) => !exact.includes(tool))
  const all = [...exact, ...ranked]
  return {
    found: all.slice(0, maxFound),
    others: all.slice(maxFound, 3 * maxFound).map(({ name, codeName }) => codeName ?? name),
  }
}

function rank(tools: readonly ToolDocumentation[], words: readonly string[]): readonly ToolDocumentation[] {
  const texts = tools.map(textOf)
  const meanLength = texts.reduce((sum, text) => sum + text.length, 0) / Math.max(1, texts.length)
  const scores = tools.map(() => 0)
  for (const word of new Set(words)) {
    const counts = texts.map((text) => text.filter((each) => each === word).length)
    const matching = counts.filter((count) => count > 0).length
    const rarity = Math.log(1 + (tools.length - matching + 0.5) / (matching + 0.5))
    for (const [index, count] of counts.entries()) {
      const length = (texts[index]?.length ?? 0) / meanLength
      scores[index] = (scores[index] ?? 0) + (rarity * count * (k1 + 1)) / (count + k1 * (1 - b + b * length))
    }
  }
  const scored = tools.map((tool, index) => ({ tool, score: scores[index] ?? 0 }))
  const least = Math.max(...scores, 0) * leastShare
  // The sort is stable: equal scores keep the order of the tools.
  return scored
    .filter(({ score }) => score > least)
    .sort((first, second) => second.score - first.score)
    .map(({ tool }) => tool)
}

function textOf({ name, description, inputSchema }: ToolDocumentation): readonly string[] {
  const names = Array.from({ length: nameWeight }, () => wordsOf(name)).flat()
  return [...names, ...wordsOf(description), ...wordsOf(parameterText(inputSchema['properties']))]
}

/** Names and descriptions of the parameters. */
function parameterText(properties: JsonValue | undefined): string {
  if (!isJsonObject(properties)) return ''
  return Object.entries(properties)
    .map(([name, schema]) => {
      const description = isJsonObject(schema) ? schema['description'] : undefined
      return typeof description === 'string' ? `${name} ${description}` : name
    })
    .join(' ')
}

/** Lower-case words without plural endings. `snake_case` and `camelCase` are split. */
function wordsOf(text: string): readonly string[] {
  const words =
    text
      .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  return words.map((word) => (word.length > 3 ? word.replace(/(?<=[^s])s$/, '') : word))
}

/**
 * The stubs of some tools, with the types that they need. A type is declared in the first stub of all tools that needs
 * it, and that tool may not be among these.
 */
export function renderFoundStubs(
  all: readonly ToolDocumentation[],
  found: readonly ToolDocumentation[],
  language: Language = defaultLanguage,
): string {
  const types = new Map(all.flatMap(({ stub }) => language.splitStub(stub).types))
  const declared = new Set<string>()
  const withTypes = (text: string): readonly string[] => {
    const needed = [...new Set(text.match(/\w+/g))].filter((word) => types.has(word) && !declared.has(word))
    for (const name of needed) declared.add(name)
    const texts = needed.flatMap((name) => withTypes(types.get(name) ?? ''))
    return [...texts, text]
  }
  return found.flatMap(({ stub }) => withTypes(language.splitStub(stub).body)).join('\n\n')
}
