import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** A fenced code block of a page. */
export interface CodeBlock {
  /** Path in the repository. */
  readonly page: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  readonly language: string
  /** Marked by the fence word `ignore-check`: it is deliberately incomplete. */
  readonly isIgnored: boolean
  readonly text: string
  /** The file name of "Save this as `FILE`:" above the block. */
  readonly savedAs: string | undefined
}

/** The pages that users read, without those that `npm run api` generates from the types. */
export function documentationPages(): readonly string[] {
  const filesOf = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`)
  const pages = filesOf('docs').filter((path) => path.endsWith('.md') && !path.startsWith('docs/reference/api/'))
  const examples = filesOf('examples').filter((path) => path.endsWith('/README.md') && !path.includes('node_modules'))
  return ['README.md', ...pages, ...examples].sort()
}

export function codeBlocksOf(page: string): readonly CodeBlock[] {
  return parseCodeBlocks(page, readFileSync(join(root, page), 'utf8'))
}

/** @throws Error for a block without an end, or with an unknown word after its language */
export function parseCodeBlocks(page: string, markdown: string): readonly CodeBlock[] {
  const lines = markdown.split('\n')
  const blocks: CodeBlock[] = []
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent = '', fence, info = ''] = /^( *)(`{3,}|~{3,})(.*)$/.exec(lines[index] ?? '') ?? []
    if (fence === undefined) continue
    const start = index
    while (index + 1 < lines.length && lines[index + 1]?.trim() !== fence) index += 1
    index += 1
    if (index >= lines.length) throw new Error(`${page}:${start + 1}: the code block has no end`)
    const [language = '', ...words] = info.trim().split(/ +/)
    const unknown = words.filter((word) => word !== 'ignore-check')
    if (unknown.length > 0) throw new Error(`${page}:${start + 1}: unknown word "${unknown.join(' ')}" after the fence`)
    const content = lines
      .slice(start + 1, index)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    blocks.push({
      page,
      line: start + 1,
      language,
      isIgnored: words.includes('ignore-check'),
      text: `${content.join('\n')}\n`,
      savedAs: /[Ss]ave this as `([^`]+)`:?$/.exec(lines.slice(0, start).join('\n').trimEnd())?.[1],
    })
  }
  return blocks
}

/** The location of a block, in the format of editors and compilers. */
export function locationOf({ page, line }: Pick<CodeBlock, 'page' | 'line'>): string {
  return `${page}:${line}`
}

/** The commands of a block. In a `console` block, they follow the prompts. */
export function shellScriptOf({ language, text }: CodeBlock): string {
  if (language !== 'console') return text
  return [...text.matchAll(/^\$ (.*)$/gm)].map(([, command]) => `${command}\n`).join('')
}
