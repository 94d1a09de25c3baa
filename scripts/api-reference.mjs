// Renders the `.api.json` of API Extractor as Markdown: a page for each entry point, and one for what none exports.

const generated = '<!-- Generated from the types and their comments by `npm run api`. Do not edit. -->'

const otherTypes = `# Other types

Exported declarations refer to these. No entry point exports them.`

/**
 * @param items a namespace for each entry point, and the declarations of all of them
 * @returns the texts, by the names of their files
 */
export function renderPages(items) {
  const entryPoints = items.filter(({ kind }) => kind === 'Namespace')
  const exported = new Set(entryPoints.flatMap(({ members }) => members.map(({ name }) => name)))
  const others = items.filter(({ kind, name }) => kind !== 'Namespace' && !exported.has(name))
  return new Map([
    ...entryPoints.map(({ name, members }) => [
      `${name.replaceAll('/', '-')}.md`,
      renderPage(`# \`${name}\``, members),
    ]),
    ['other-types.md', renderPage(otherTypes, others)],
  ])
}

function renderPage(head, items) {
  const sections = items
    // Such a symbol only marks a class.
    .filter((item) => !excerptOf(item).endsWith(': unique symbol'))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
    .map(renderItem)
  return `${generated}\n\n${head}\n\n${sections.join('\n')}`
}

function renderItem(item) {
  const text = paragraphs(item.docComment)
  return [`## \`${item.name}\``, '', ...text, '```typescript', declarationOf(item), '```', ''].join('\n')
}

/** The declaration, with the members of a class or interface and their comments. */
function declarationOf(item) {
  const head = item.kind === 'Variable' ? `const ${excerptOf(item)}` : excerptOf(item)
  if (item.members === undefined) return head
  const members = item.members
    .filter(({ name }) => !name?.startsWith('[marker'))
    .flatMap((member) => [...commentOf(member), `  ${excerptOf(member).replaceAll('\n  ', '\n')}`])
  return `${head.trim()} {\n${members.join('\n')}\n}`
}

function excerptOf({ excerptTokens }) {
  return excerptTokens
    .map(({ text }) => text)
    .join('')
    .replace(/^export (declare )?/, '')
}

function commentOf({ docComment = '' }) {
  const lines = paragraphs(docComment).filter((line) => line !== '')
  if (lines.length <= 1) return lines.map((line) => `  /** ${line} */`)
  return ['  /**', ...lines.map((line) => `   * ${line}`), '   */']
}

/** The text of a TSDoc comment, as Markdown with an empty line at its end. */
function paragraphs(docComment = '') {
  const text = docComment
    .replace(/^\/\*\*|\*\/\s*$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .replace(/\{@link ([^}|]+?)(?:\s*\|\s*([^}]+))?\}/g, (_, target, label) => `\`${label ?? target}\``)
    .replace(/^@(\w+)\s+/gm, (_, tag) => `${tag[0].toUpperCase()}${tag.slice(1)}: `)
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return text === '' ? [] : [...text.split('\n'), '']
}
