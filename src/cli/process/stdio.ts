import { fstatSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { piecesOf, type TextRange } from '../../common/text/text-ranges.js'
import { wrapWords } from '../rendering/text/display-width.js'
import { sanitize } from '../rendering/text/sanitize.js'

/** Prints a result to stdout. */
export function print(text: string): void {
  write(process.stdout, text.endsWith('\n') ? text : `${text}\n`)
}

/** Prints what a program printed, each part to its stream. Sanitizes only for a terminal. */
export function printOutput(text: string, stderr: readonly TextRange[] = []): void {
  for (const piece of piecesOf(text, stderr)) write(piece.isInside ? process.stderr : process.stdout, piece.text)
}

/** Prints rendered text with colours to stdout. The rendering has sanitized its texts. */
export function printStyled(text: string): void {
  writeRaw(process.stdout, `${text}\n`)
}

/** Prints text for people to stdout: on a terminal, its lines are wrapped between words. */
export function printProse(text: string): void {
  print(wrapFor(process.stdout, text))
}

/** Prints a line about progress or an error to stderr, wrapped as {@link printProse} does. */
export function printStatus(line: string): void {
  write(process.stderr, `${wrapFor(process.stderr, line)}\n`)
}

/** Prints the message of an error to stderr, and its hint. */
export function printError({ message, hint }: { readonly message: string; readonly hint?: string | undefined }): void {
  printStatus(`ptc: ${message}${hint === undefined ? '' : `\n${hint}`}`)
}

/** Prints a line about a slow step to stderr. */
export function printStep(line: string): void {
  printStatus(`› ${line}`)
}

/** The error of a write to stdout. A closed reader (EPIPE) is not an error. */
let stdoutFailure: Error | undefined

/**
 * Keeps a failed write from ending the process with a stack trace. A reader that stops early (`ptc list | head -1`) is
 * not an error: the remaining output is dropped. Any other error is kept for {@link flushOutput}.
 */
export function handleOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (fstatSync(stream.fd).isFile()) makeWritesComplete(stream, stream.fd)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'
      if (!isClosed && stream === process.stdout) stdoutFailure ??= error
    })
  }
}

/**
 * Keeps stdout for one writer, which gets the returned stream: everything else that this process writes to stdout, such
 * as `console.log` in a tool, goes to stderr.
 */
export function reserveStdout(): Writable {
  const { stdout, stderr } = process
  const writeToStdout = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  return new Writable({
    write: (chunk: Buffer, _encoding, callback) => void writeToStdout(chunk, callback),
  })
}

/**
 * Writes whole texts to a file. Node uses one system call, which on a disk that is nearly full writes a part and
 * reports no error.
 */
function makeWritesComplete(stream: NodeJS.WriteStream, fd: number): void {
  // oxlint-disable-next-line no-underscore-dangle -- Node's name of the method
  stream._write = (chunk: Buffer, _encoding, callback) => {
    try {
      for (let rest = chunk; rest.length > 0; rest = rest.subarray(writeSync(fd, rest)));
      callback()
    } catch (thrown) {
      callback(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
  }
}

/** Waits until all output is written or has failed; returns the error of stdout, if any. */
export async function flushOutput(): Promise<Error | undefined> {
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise<void>((resolve) => (stream.writable ? stream.write('', () => resolve()) : resolve())),
    ),
  )
  // The error event of a write comes after its callback.
  await new Promise((resolve) => setImmediate(resolve))
  return stdoutFailure
}

/**
 * Text for a terminal is sanitized, because a terminal obeys escape sequences. A file or pipe gets the text unchanged.
 */
function write(stream: NodeJS.WriteStream, text: string): void {
  writeRaw(stream, stream.isTTY ? sanitize(text) : text)
}

/** Wraps before the text is sanitized. Sanitizing widens only lines with characters that it replaces. */
function wrapFor({ isTTY, columns }: NodeJS.WriteStream, text: string): string {
  if (!isTTY || !columns) return text
  return text
    .split('\n')
    .flatMap((line) => wrapWords(line, columns))
    .join('\n')
}

function writeRaw(stream: NodeJS.WriteStream, text: string): void {
  if (!stream.destroyed && stream.writable) stream.write(text)
}
