// Writes the tables of options in docs/reference/ from the comments of the types that users write.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'

const definition = 'src/tools/tool-definition.ts'
const toolConfig = 'src/common/calls/tool-config.ts'

const pages = {
  'docs/reference/configuration.md': [
    ['', 'src/config/define-config.ts', 'PtcConfig'],
    ['approvals', 'src/config/options/approvals.ts', 'ApprovalsOption'],
  ],
  'docs/reference/tool-options.md': [
    ['', definition, 'ToolDeclaration'],
    ['', definition, 'ToolDefinition'],
    ['', definition, 'DeferredToolDefinition'],
    ['', toolConfig, 'ToolConfig', ['taskQueue', 'rate', 'concurrency', 'priority']],
    ['retry', definition, 'RetryDefinition'],
    ['rate', toolConfig, 'ToolRate'],
    ['priority', toolConfig, 'ToolPriority'],
    ['activity', definition, 'ActivityTarget'],
    ['workflow', definition, 'WorkflowTarget'],
    ['nexus', definition, 'NexusTarget'],
  ],
}

export const pagePaths = Object.keys(pages)

/** The options of a page: path, default and meaning of each, in the order of the types. */
export function optionsOf(page) {
  const options = pages[page].flatMap(([path, file, name, chosen]) =>
    membersOf(read(file), name)
      .filter((member) => chosen?.includes(member.path) ?? true)
      .map((member) => ({ ...member, path: [path, member.path].filter(Boolean).join('.') })),
  )
  return [...new Map(options.toReversed().map((option) => [option.path, option])).values()].toReversed()
}

/** The text of a page with its current table. */
export function currentPage(page) {
  const rows = optionsOf(page).map(({ path, fallback, meaning }) => `| \`${path}\` | ${fallback} | ${meaning} |`)
  const table = ['| option | default | meaning |', '|---|---|---|', ...rows].join('\n')
  const [before, rest] = read(page).split(/(?<=<!-- options: .* -->\n)/)
  return `${before}\n${table}\n\n${rest.slice(rest.indexOf('<!-- end of options -->'))}`
}

function read(path) {
  return readFileSync(join(root, path), 'utf8')
}

/** The members of an interface that have a comment. Indentation tells which members are nested. */
function membersOf(source, name) {
  const start = source.search(new RegExp(`^(?:export )?interface ${name}\\b`, 'm'))
  const body = source.slice(start, source.indexOf('\n}', start))
  const parents = []
  return [...body.matchAll(/^( +)\/\*\*([\s\S]*?)\*\/\n|^( +)(?:readonly )?(\w+)\??[:(]/gm)].flatMap(
    (match, index, all) => {
      const [, , , indent, member] = match
      if (member === undefined) return []
      const depth = indent.length
      while (parents.length > 0 && parents.at(-1).depth >= depth) parents.pop()
      const path = [...parents.map((parent) => parent.member), member].join('.')
      parents.push({ depth, member })
      const before = all[index - 1]
      return before?.[2] !== undefined && before[1].length === depth ? [{ path, ...describe(before[2]) }] : []
    },
  )
}

/** Splits a comment into the default and the rest, as Markdown. */
function describe(comment) {
  const text = comment
    .replaceAll(/\n? +\* ?/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const [sentence, fallback = ''] = /(?:^| )Default:? (.+?)\.(?= |$)/.exec(text) ?? ['']
  const markdown = text
    .replace(sentence, '')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/`?docs\/(guides\/([\w-]+)\.md(?:#[\w-]+)?)`?/g, '[$2](../$1)')
    .replaceAll(/`?docs\/reference\/(([\w-]+)\.md)`?/g, '[$2]($1)')
    .replaceAll('|', '\\|')
    .trim()
  return { fallback: fallback.replaceAll('|', '\\|'), meaning: markdown }
}

if (process.argv[1] === import.meta.filename) {
  for (const page of pagePaths) writeFileSync(join(root, page), currentPage(page))
}
