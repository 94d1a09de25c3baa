/**
 * The data of each server-sent event. Some servers end the stream without an empty line. The time is linear in the
 * length of the stream, in pieces of any size.
 */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  /** The pieces of a line that has no end yet. */
  let begun: string[] = []
  let data: string[] = []
  for await (const bytes of body) {
    const [first = '', ...others] = decoder.decode(bytes, { stream: true }).split('\n')
    begun.push(first)
    for (const next of others) {
      const line = begun.join('').replace(/\r$/, '')
      begun = [next]
      if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
      if (line !== '' || data.length === 0) continue
      yield data.join('\n')
      data = []
    }
  }
  const rest = begun.join('')
  if (rest.startsWith('data:')) data.push(rest.slice('data:'.length).trim())
  if (data.length > 0) yield data.join('\n')
}
