/**
 * The data of each server-sent event. The stream of the SDK is not used: it drops comments (which show that the
 * connection is alive), and waits for the end of the connection after the last event.
 *
 * @param onActivity called for every chunk of bytes
 */
export async function* eventData(
  body: ReadableStream<Uint8Array>,
  onActivity: () => void,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  for await (const bytes of body) {
    onActivity()
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
      if (line !== '' || data.length === 0) continue
      yield data.join('\n')
      data = []
    }
  }
  // Some servers end the stream without an empty line.
  if (rest.startsWith('data:')) data.push(rest.slice('data:'.length).trim())
  if (data.length > 0) yield data.join('\n')
}
