// Renders the `.api.json` of API Extractor as one Markdown page per entry point.

const generated = '<!-- Generated from the types and their comments by `npm run api`. Do not edit. -->'

/**
 * @param entry the object of kind `EntryPoint` in an `.api.json`
 * @param exported names that the entry point exports; exported types refer to the others
 */
export function renderPage(specifier, entry, exported) {
  // Such a symbol only marks a class.
  const named = entry.members.filter((item) => !excerptOf(item).endsWith(': unique symbol'))
  const items = named.sort((a, b) => a.name.localeCompare(b.name, 'en'))
  const reachable = items.filter(({ name }) => !exported.has(name))
  const sections = items.filter(({ name }) => exported.has(name)).map((item) => renderItem('##', item))
  if (reachable.length > 0) {
    sections.push('## Types that these refer to\n\nThey are not exported.\n')
    sections.push(...reachable.map((item) => renderItem('###', item)))
  }
  return `${generated}\n\n# \`${specifier}\`\n\n${sections.join('\n')}`
}

function renderItem(heading, item) {
  const text = paragraphs(item.docComment)
  return [`${heading} \`${item.name}\``, '', ...text, '```typescript', declarationOf(item), '```', ''].join('\n')
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
