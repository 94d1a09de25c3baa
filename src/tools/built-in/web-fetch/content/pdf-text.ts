import { getDocumentProxy } from 'unpdf'
import { takeStart } from '../../../../common/text/text.js'
import type { PageText } from './html-text.js'

/** The part of PDF.js' type that is used here. */
interface TextContent {
  readonly items: readonly { readonly str?: string; readonly hasEOL?: boolean }[]
}

/**
 * The text of a PDF, page by page.
 *
 * @throws Error for a document that can't be read, such as an encrypted one
 */
export async function pdfToText(bytes: Uint8Array, maxCharacters: number): Promise<PageText> {
  const document = await getDocumentProxy(bytes, { isEvalSupported: false, verbosity: 0 })
  const pages: string[] = []
  let characters = 0
  for (let number = 1; number <= document.numPages && characters < maxCharacters; number++) {
    const content: TextContent = await (await document.getPage(number)).getTextContent()
    const text = content.items
      .map(({ str = '', hasEOL }) => str + (hasEOL === true ? '\n' : ''))
      .join('')
      .trim()
    pages.push(text)
    characters += text.length
  }
  return { text: takeStart(pages.join('\n\n'), maxCharacters) }
}
