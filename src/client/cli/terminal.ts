import { once } from 'node:events'

/** stdout is for results: what a script would want to read. */
export function print(text: string): void {
  write(process.stdout, text.endsWith('\n') ? text : `${text}\n`)
}

/** Exactly this, no line end added. */
export function printRaw(text: string): void {
  write(process.stdout, text)
}

/** stderr is for people: what is going on. */
export function say(line: string): void {
  write(process.stderr, `${line}\n`)
}

/** A line about a step that takes a while. */
export function sayStep(line: string): void {
  say(`› ${line}`)
}

/**
 * Whoever reads our output may stop early (`ptc list | head -1`): that is no error, the rest is said to nobody.
 * Without a listener Node would end the process with a stack trace.
 */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    })
  }
}

/** Resolves when everything written has left the process, or nobody reads it any more. */
export async function flush(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map(async (stream) => {
      if (stream.writableLength > 0 && !stream.destroyed) {
        await Promise.race([once(stream, 'drain'), once(stream, 'close')]).catch(() => undefined)
      }
    }),
  )
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (!stream.destroyed && stream.writable) stream.write(text)
}
