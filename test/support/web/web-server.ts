import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A web server of a test, on 127.0.0.1. It answers 404 for other paths than its own. */
export interface WebServer {
  readonly port: number
  /** The URL of a path. */
  readonly url: (path: string) => string
  /** Paths in the order of their requests. */
  readonly requested: string[]
  /** The requests themselves. */
  readonly requests: IncomingMessage[]
}

/** @param onCleanup registers the end of the server; default: the end of the test */
export async function startWebServer(
  answers: Readonly<Record<string, Answer>>,
  onCleanup: (end: () => void) => void = onTestFinished,
): Promise<WebServer> {
  const requested: string[] = []
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    const { url = '' } = request
    requested.push(url)
    requests.push(request)
    // A client that has enough of a body ends the connection.
    response.on('error', () => undefined)
    const answer = answers[url.replace(/\?.*/, '')]
    if (answer) answer(response, request)
    else response.writeHead(404, { 'Content-Type': 'text/plain' }).end('no such page')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onCleanup(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: (path) => `http://127.0.0.1:${port}${path}`, requested, requests }
}

/** Answers with a body of this content type. */
export function body(
  content: string | Uint8Array,
  contentType = 'text/html',
  headers: Record<string, string> = {},
): Answer {
  return (response) => {
    response.writeHead(200, { ...(contentType !== '' && { 'Content-Type': contentType }), ...headers }).end(content)
  }
}

/** Redirects to a URL. */
export function redirect(location: string, status = 302): Answer {
  return (response) => void response.writeHead(status, { Location: location }).end()
}

/** A PDF of one page, with a content stream. */
export function makePdf(stream: Uint8Array, filter = ''): Buffer {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 5 0 R/Resources<</Font<</F1 4 0 R>>>>>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ]
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  const offsets: number[] = []
  const add = (part: Buffer) => {
    offsets.push(parts.reduce((bytes, each) => bytes + each.length, 0))
    parts.push(part)
  }
  for (const [index, object] of objects.entries()) add(Buffer.from(`${index + 1} 0 obj\n${object}\nendobj\n`))
  const head = Buffer.from(`5 0 obj\n<</Length ${stream.length}${filter}>>\nstream\n`)
  add(Buffer.concat([head, stream, Buffer.from('\nendstream\nendobj\n')]))
  const start = parts.reduce((bytes, each) => bytes + each.length, 0)
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `xref\n0 6\n0000000000 65535 f \n${table}trailer<</Size 6/Root 1 0 R>>\nstartxref\n${start}\n%%EOF`
  return Buffer.concat([...parts, Buffer.from(trailer)])
}
