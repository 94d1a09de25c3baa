import { finished } from 'node:stream/promises'
import { SAXParser, type StartTag } from 'parse5-sax-parser'
import { takeStart } from '../../../../common/text/text.js'
import { TextWriter } from './text-writer.js'

export interface PageText {
  readonly title?: string
  readonly text: string
}

/** Elements whose content is no text of the page. */
const skipped: ReadonlySet<string> = new Set(
  'script style template noscript svg math iframe object canvas audio video select'.split(' '),
)

const paragraphs: ReadonlySet<string> = new Set(
  'address article aside blockquote div dl fieldset figure footer form header hr main nav ol p pre section table ul'.split(
    ' ',
  ),
)

const lines: ReadonlySet<string> = new Set('br caption dd dt figcaption legend li option summary tr'.split(' '))

const cellEnds: ReadonlySet<string> = new Set(['td', 'th', 'tr', 'table'])

/** The text of `<main>` is that of the page when it has this many characters. */
const minMainCharacters = 200

const maxHrefCharacters = 2_000
const maxTitleCharacters = 500
const maxListDepth = 8

/**
 * The readable text of an HTML page, with Markdown for headings and lists, and the targets of links. Takes the page as
 * a stream of tags: a tree of hostile HTML may be as deep as the page is long, and costs the square of it.
 *
 * @param base URL of the page, for relative links
 */
export async function htmlToText(html: string, base: string, maxCharacters: number): Promise<PageText> {
  const reader = new HtmlReader(base)
  const parser = new SAXParser()
  parser.on('startTag', (tag) => reader.open(tag))
  parser.on('endTag', ({ tagName }) => reader.close(tagName))
  parser.on('text', ({ text }) => {
    reader.text(text)
    if (reader.characters > maxCharacters) parser.stop()
  })
  // What comes out of the stream is the page again.
  parser.resume()
  parser.end(html)
  await finished(parser)
  return reader.result(maxCharacters)
}

class HtmlReader {
  readonly #base: string
  readonly #page = new TextWriter()
  readonly #main = new TextWriter()
  #title = ''
  #titleDepth: 'before' | 'in' | 'after' = 'before'
  #mainDepth = 0
  #skipDepth = 0
  #preDepth = 0
  #listDepth = 0
  /** The open link: an unclosed one ends where the next begins. */
  #link: { readonly href: string; readonly begun: number } | undefined

  constructor(base: string) {
    this.#base = base
  }

  get characters(): number {
    return this.#page.characters
  }

  open({ tagName, attrs, selfClosing }: StartTag): void {
    if (skipped.has(tagName)) {
      // Only in these two a tag can close itself.
      if (!(selfClosing && (tagName === 'svg' || tagName === 'math'))) this.#skipDepth += 1
      return
    }
    if (this.#skipDepth > 0) return
    if (tagName === 'title' && this.#titleDepth === 'before') this.#titleDepth = 'in'
    else if (tagName === 'main') this.#mainDepth += 1
    else if (tagName === 'pre') this.#preDepth += 1
    else if (tagName === 'ul' || tagName === 'ol') this.#listDepth += 1
    else if (tagName === 'a') this.#openLink(attrs.find(({ name }) => name === 'href')?.value)
    this.#break(tagName)
    if (tagName === 'li') this.#beginLine(`${'  '.repeat(this.#indentation())}- `, 1)
    else if (/^h[1-6]$/.test(tagName)) this.#beginLine(`${'#'.repeat(Number(tagName[1]))} `, 2)
    else if (tagName === 'tr') this.#each((writer) => writer.beginRow())
    else if (tagName === 'td' || tagName === 'th') this.#each((writer) => writer.beginCell())
  }

  close(tagName: string): void {
    if (skipped.has(tagName)) {
      this.#skipDepth = Math.max(0, this.#skipDepth - 1)
      return
    }
    if (this.#skipDepth > 0) return
    if (tagName === 'title' && this.#titleDepth === 'in') this.#titleDepth = 'after'
    else if (tagName === 'a') this.#closeLink()
    else if (tagName === 'pre') this.#preDepth = Math.max(0, this.#preDepth - 1)
    else if (tagName === 'ul' || tagName === 'ol') this.#listDepth = Math.max(0, this.#listDepth - 1)
    else if (cellEnds.has(tagName)) this.#each((writer) => writer.endCell())
    this.#break(tagName)
    if (/^h[1-6]$/.test(tagName)) this.#each((writer) => writer.break(2))
    if (tagName === 'main') this.#mainDepth = Math.max(0, this.#mainDepth - 1)
  }

  text(text: string): void {
    if (this.#skipDepth > 0) return
    if (this.#titleDepth === 'in') {
      if (this.#title.length < maxTitleCharacters) this.#title += takeStart(text, maxTitleCharacters)
      return
    }
    const isPreformatted = this.#preDepth > 0
    this.#each((writer) => (isPreformatted ? writer.addPreformatted(text) : writer.add(text)))
  }

  result(maxCharacters: number): PageText {
    this.#closeLink()
    const chosen = this.#main.characters >= minMainCharacters ? this.#main : this.#page
    const title = takeStart(this.#title.replace(/\s+/g, ' ').trim(), maxTitleCharacters)
    return { ...(title !== '' && { title }), text: takeStart(chosen.toString(), maxCharacters) }
  }

  #break(tagName: string): void {
    if (paragraphs.has(tagName)) this.#each((writer) => writer.break(this.#listDepth > 1 ? 1 : 2))
    else if (lines.has(tagName)) this.#each((writer) => writer.break(1))
  }

  #beginLine(prefix: string, breaks: 1 | 2): void {
    this.#each((writer) => writer.beginLine(prefix, breaks))
  }

  #indentation(): number {
    return Math.min(Math.max(this.#listDepth - 1, 0), maxListDepth)
  }

  #openLink(target: string | undefined): void {
    this.#closeLink()
    if (target === undefined) return
    const isShown = target.length <= maxHrefCharacters && !target.startsWith('#') && URL.canParse(target, this.#base)
    const url = isShown ? new URL(target, this.#base) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol)) return
    this.#link = { href: url.href, begun: this.#page.characters }
  }

  #closeLink(): void {
    const link = this.#link
    this.#link = undefined
    // A link without a text is a picture or a target of scripts.
    if (link !== undefined && this.#page.characters > link.begun)
      this.#each((writer) => writer.attach(` (${link.href})`))
  }

  #each(write: (writer: TextWriter) => void): void {
    write(this.#page)
    if (this.#mainDepth > 0) write(this.#main)
  }
}
