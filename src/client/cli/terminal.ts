import { fstatSync, writeSync } from 'node:fs'
import { neutralise } from '../render/neutralise.js'

/** stdout is for results: what a script would want to read. */
export function print(text: string): void {
  write(process.stdout, text.endsWith('\n') ? text : `${text}\n`)
}

/** No line end is added, and nothing is changed unless stdout is a terminal. */
export function printRaw(text: string): void {
  write(process.stdout, text)
}

/** What was drawn for this terminal, with colours; the texts in it are neutralised already. */
export function printDrawn(text: string): void {
  send(process.stdout, `${text}\n`)
}

/** stderr is for people: what is going on. */
export function say(line: string): void {
  write(process.stderr, `${line}\n`)
}

/** A line about a step that takes a while. */
export function sayStep(line: string): void {
  say(`› ${line}`)
}

/** Why stdout could not be written; that nobody reads it is no reason. */
let outputFailure: Error | undefined

/**
 * Keeps a failed write from ending the process with a stack trace. Whoever reads our output may stop early (`ptc list | head -1`): that
 * is no error, the rest is said to nobody. Any other failure is kept for {@link flush}.
 */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (fstatSync(stream.fd).isFile()) writeWhole(stream, stream.fd)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'
      if (!isClosed && stream === process.stdout) outputFailure ??= error
    })
  }
}

/** Node asks the system once to write to a file: on a disk that is nearly full, that takes the first part and is no error. */
function writeWhole(stream: NodeJS.WriteStream, fd: number): void {
  // oxlint-disable-next-line no-underscore-dangle -- Node's name for what does the writing
  stream._write = (chunk: Buffer, _encoding, callback) => {
    try {
      for (let rest = chunk; rest.length > 0; rest = rest.subarray(writeSync(fd, rest)));
      callback()
    } catch (thrown) {
      callback(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
  }
}

/** Waits until everything written has left the process or has failed; gives the failure of stdout, if there is one. */
export async function flush(): Promise<Error | undefined> {
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise<void>((resolve) => (stream.writable ? stream.write('', () => resolve()) : resolve())),
    ),
  )
  // The error event of a write comes after its callback.
  await new Promise((resolve) => setImmediate(resolve))
  return outputFailure
}

/** A terminal obeys the escape sequences it is sent; a file or a pipe gets the text as it is. */
function write(stream: NodeJS.WriteStream, text: string): void {
  send(stream, stream.isTTY ? neutralise(text) : text)
}

function send(stream: NodeJS.WriteStream, text: string): void {
  if (!stream.destroyed && stream.writable) stream.write(text)
}
