/** How the text of a body is read. */
export type ContentKind = 'html' | 'text' | 'pdf'

/** A parsed `Content-Type`. */
export interface ContentType {
  /** Lower case, such as `text/html`. Empty without a valid header. */
  readonly type: string
  readonly charset: string | undefined
  /** Undefined: a type without a text. */
  readonly kind: ContentKind | undefined
}

const htmlTypes = /^(text\/html|application\/xhtml\+xml)$/
const textTypes =
  /^(text\/.+|.+\+(json|xml|yaml)|application\/(json|xml|javascript|x-javascript|ecmascript|x-ndjson|ndjson|yaml|x-yaml|toml|sql|graphql|x-sh|rtf))$/

/** @param body without a valid header, its first bytes decide */
export function readContentType(header: string | undefined, body?: Buffer): ContentType {
  const [media = '', ...parameters] = (header ?? '').slice(0, 1_000).split(';')
  const type = media.trim().toLowerCase()
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(parameter)?.[1])
    .find((label) => label !== undefined)
  if (/^[\w.+-]+\/[\w.+-]+$/.test(type)) return { type, charset, kind: kindOf(type) }
  return { type: '', charset, kind: body && sniff(body) }
}

function kindOf(type: string): ContentKind | undefined {
  if (htmlTypes.test(type)) return 'html'
  if (type === 'application/pdf' || type === 'application/x-pdf') return 'pdf'
  return textTypes.test(type) ? 'text' : undefined
}

const sniffedBytes = 1_024

function sniff(body: Buffer): ContentKind | undefined {
  const start = body.subarray(0, sniffedBytes).toString('latin1')
  if (start.startsWith('%PDF-')) return 'pdf'
  if (start.includes('\0')) return undefined
  return /^\W*<(!doctype html|html|head|body|!--)/i.test(start) ? 'html' : 'text'
}
