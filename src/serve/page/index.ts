import { readFile } from 'node:fs/promises'
import { invisibleCharacters } from '../../common/text/text.js'

/*
 * `src/serve/page` owns the chat page: a document, its style and its modules. No framework and no build.
 *
 * Boundary: the page uses the paths of the server and nothing else. Texts reach the document as text nodes only.
 *
 * The files have no data: they need no token. The policy allows no script, style or connection of another origin, no
 * inline script, and no text as HTML.
 */

interface PageFile {
  readonly headers: Readonly<Record<string, string>>
  content(): Promise<string>
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const files: Readonly<Record<string, readonly [file: string, type: string]>> = {
  '/': ['page.html', 'text/html'],
  '/page/page.css': ['page.css', 'text/css'],
  '/page/page.js': ['page.js', 'text/javascript'],
  '/page/chat.js': ['chat.js', 'text/javascript'],
  '/page/files.js': ['files.js', 'text/javascript'],
  '/page/approvals.js': ['approvals.js', 'text/javascript'],
  '/page/requests.js': ['requests.js', 'text/javascript'],
}

/** The file of the page at this path; undefined when there is none. */
export function pageFile(path: string): PageFile | undefined {
  const [file, type] = (Object.hasOwn(files, path) ? files[path] : undefined) ?? []
  if (file === undefined) return undefined
  return {
    headers: { 'Content-Type': `${type}; charset=utf-8`, 'Content-Security-Policy': policy },
    async content() {
      const text = await readFile(new URL(file, import.meta.url), 'utf8')
      return text.replace('INVISIBLE_CHARACTERS', () => invisibleCharacters.source)
    },
  }
}
