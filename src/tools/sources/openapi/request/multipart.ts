import { randomUUID } from 'node:crypto'

export interface Part {
  readonly name: string
  readonly content: Uint8Array
  readonly contentType?: string
  /** A server takes a part with a name of a file for a file. */
  readonly fileName?: string
}

export function encodeMultipart(parts: readonly Part[]): { readonly body: Uint8Array; readonly contentType: string } {
  const boundary = `----durable-ptc-${randomUUID()}`
  const chunks = parts.flatMap(({ name, content, contentType, fileName }) => {
    const file = fileName === undefined ? '' : `; filename="${escape(fileName)}"`
    const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escape(name)}"${file}\r\n${type}\r\n`
    return [Buffer.from(head), content, Buffer.from('\r\n')]
  })
  const body = Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)])
  return { body, contentType: `multipart/form-data; boundary=${boundary}` }
}

/** As the HTML standard says. */
function escape(name: string): string {
  return name.replaceAll(/["\r\n]/g, (character) => encodeURIComponent(character))
}
