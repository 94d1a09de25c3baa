// Writes the tables of options in docs/reference/ from the comments of the types that users write.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'

const definition = 'src/tools/tool-definition.ts'
const toolConfig = 'src/common/calls/tool-config.ts'

const pages = {
  'docs/reference/configuration.md': [
    ['', 'src/config/define-config.ts', 'PtcConfig'],
    ['model', 'src/models/options/model.ts', 'ModelOption'],
    ['sandbox', 'src/sandbox/option.ts', 'SandboxOption'],
    ['sandbox.kubernetes', 'src/sandbox/kubernetes/options.ts', 'KubernetesOptions'],
    ['network', 'src/common/run/network.ts', 'NetworkOption'],
    ['timeouts', 'src/config/options/timeouts.ts', 'TimeoutsOption'],
    ['approvals', 'src/config/options/approvals.ts', 'ApprovalsOption'],
    ['dataFlow', 'src/config/options/data-flow.ts', 'DataFlowOption'],
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
  'docs/reference/built-in-tools.md': [
    ['think', 'src/tools/built-in/think.ts', 'ThinkOptions'],
    ['subagent', 'src/tools/built-in/subagent.ts', 'SubagentOptions'],
    ['webFetch', 'src/tools/built-in/web-fetch/options.ts', 'WebFetchOptions'],
    ['webSearch', 'src/tools/built-in/web-search/web-search.ts', 'WebSearchOptions'],
    ['braveSearch', 'src/tools/built-in/web-search/brave-search.ts', 'BraveSearchOptions'],
  ],
}

export const pagePaths = Object.keys(pages)

/** The options of a page: path, default and meaning of each, in the order of the types. */
export function optionsOf(page) {
  // The options of a type of its own follow the member that has this type.
  const optionsAt = (path) =>
    pages[page]
      .filter(([at]) => at === path)
      .flatMap(([, file, name, only]) =>
        membersOf(read(file), name).filter(({ path: member }) => !only || only.includes(member)),
      )
      .map((member) => ({ ...member, path: [path, member.path].filter(Boolean).join('.') }))
      .flatMap((member) => [...(member.meaning === undefined ? [] : [member]), ...optionsAt(member.path)])
  const options = pages[page].flatMap(([path]) => optionsAt(path))
  return options.filter(({ path }, index) => options.findIndex((option) => option.path === path) === index)
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

/** The members of an interface, with the meaning of those that have a comment. Indentation tells which are nested. */
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
      return before?.[2] !== undefined && before[1].length === depth ? [{ path, ...describe(before[2]) }] : [{ path }]
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
