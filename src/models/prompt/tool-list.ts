import { truncateEnd } from '../../common/text/text.js'
import type { Language } from '../../languages/index.js'
import type { ToolDocumentation } from '../../tools/documentation/document-tools.js'

/**
 * The list of tools in a prompt whose model searches their documentation. It has a line for each tool while that fits,
 * and lines for groups of tools where there are too many: a prompt with thousands of tools stays small.
 *
 * Deterministic: the list depends only on the tools and their order.
 */

/** Characters of the list, about 3,700 tokens. */
const maxCharacters = 13_000

const maxSummaryCharacters = 100
/** Words that a line of a group has. */
const maxWordCharacters = 70

export interface ToolList {
  readonly lines: readonly string[]
  /** Some lines stand for several tools. */
  readonly isGrouped: boolean
}

/** How much the list says about the tools of a source. */
type Detail = 'summaries' | 'parameters' | 'groups' | 'count'

const lessDetail: Readonly<Record<Detail, Detail | undefined>> = {
  summaries: 'parameters',
  parameters: 'groups',
  groups: 'count',
  count: undefined,
}

/** The tools whose names begin with the same word. */
interface Group {
  readonly prefix: string
  readonly tools: readonly ToolDocumentation[]
}

export function listTools(tools: readonly ToolDocumentation[], language: Language): ToolList {
  const sources = groupBy(tools, sourceOf).map((source) => new ListedSource(source, language))
  const total = () => sources.reduce((sum, source) => sum + source.characters, 0)
  // The longest list gets shorter first: a source with many tools takes nothing from the others.
  while (total() > maxCharacters) {
    const [longest] = sources
      .filter(({ detail }) => lessDetail[detail] !== undefined)
      .toSorted((first, second) => second.characters - first.characters)
    if (longest === undefined) break
    longest.shorten()
  }
  for (const source of sources) source.expandGroups(maxCharacters - total())
  return {
    lines: sources.flatMap(({ lines }) => lines),
    isGrouped: sources.some(({ detail }) => detail === 'groups' || detail === 'count'),
  }
}

class ListedSource {
  detail: Detail = 'summaries'
  lines: readonly string[]
  readonly #source: Group
  readonly #groups: readonly Group[]
  readonly #language: Language

  constructor(source: Group, language: Language) {
    this.#source = source
    this.#groups = groupBy(source.tools, (name) => `${source.prefix}${firstWord(name.slice(source.prefix.length))}`)
    this.#language = language
    this.lines = this.#render(new Set())
  }

  get characters(): number {
    return this.lines.reduce((sum, line) => sum + line.length + 1, 0)
  }

  shorten(): void {
    this.detail = lessDetail[this.detail] ?? this.detail
    this.lines = this.#render(new Set())
  }

  /** Gives each tool of the smallest groups a line of its own, as far as the characters suffice. */
  expandGroups(characters: number): void {
    if (this.detail !== 'groups') return
    const expanded = new Set<Group>()
    const limit = this.characters + characters
    for (const group of this.#groups.toSorted((first, second) => first.tools.length - second.tools.length)) {
      const before = this.lines
      this.lines = this.#render(expanded.add(group))
      if (this.characters <= limit) continue
      this.lines = before
      return
    }
  }

  #render(expanded: ReadonlySet<Group>): readonly string[] {
    const { prefix, tools } = this.#source
    switch (this.detail) {
      case 'summaries':
        return tools.map((tool) => this.#line(tool, summaryOf(tool)))
      case 'parameters':
        return tools.map((tool) => this.#line(tool, ''))
      case 'groups':
        return this.#groups.flatMap((group) =>
          expanded.has(group) || group.tools.length === 1
            ? group.tools.map((tool) => this.#line(tool, ''))
            : [this.#groupLine(group, (name) => firstWord(name.slice(group.prefix.length).replace(/^_+/, '')))],
        )
      case 'count':
        return [this.#groupLine({ prefix, tools }, (name) => firstWord(name.slice(prefix.length)))]
    }
  }

  /** One tool as an example, with the number of all, and words of their names. */
  #groupLine({ prefix, tools }: Group, wordOf: (name: string) => string): string {
    const [example] = tools.toSorted((first, second) => codeName(first).length - codeName(second).length)
    if (example === undefined) return ''
    const words = [...new Set(tools.map((tool) => wordOf(codeName(tool))))].join(', ')
    const summary = `and ${tools.length - 1} more ${prefix}…: ${truncateEnd(words, maxWordCharacters)}`
    return this.#line(example, summary)
  }

  #line(tool: ToolDocumentation, summary: string): string {
    const { properties } = tool.inputSchema
    const parameters = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
    const isOfGroup = this.detail === 'groups' || this.detail === 'count'
    return this.#language.summarizeTool(codeName(tool), isOfGroup ? parameters.slice(0, 6) : parameters, summary)
  }
}

function codeName({ name, codeName: own = name }: ToolDocumentation): string {
  return own
}

/** The part of a name that says where the tool is from: `github__`. Empty for other tools. */
function sourceOf(name: string): string {
  return /^[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*?__/.exec(name)?.[0] ?? ''
}

function firstWord(name: string): string {
  return /^[^_]+/.exec(name)?.[0].match(/^(?:[a-z0-9]+|[A-Z]+[a-z0-9]*)/)?.[0] ?? name
}

/** Groups in the order of their first tools. */
function groupBy(tools: readonly ToolDocumentation[], prefixOf: (name: string) => string): readonly Group[] {
  const groups = new Map<string, ToolDocumentation[]>()
  for (const tool of tools) {
    const prefix = prefixOf(codeName(tool))
    const known = groups.get(prefix)
    if (known) known.push(tool)
    else groups.set(prefix, [tool])
  }
  return [...groups].map(([prefix, members]) => ({ prefix, tools: members }))
}

function summaryOf({ description }: ToolDocumentation): string {
  const [sentence = ''] = description.trim().split(/(?<=[.!?])\s|\n/)
  return truncateEnd(sentence, maxSummaryCharacters)
}
