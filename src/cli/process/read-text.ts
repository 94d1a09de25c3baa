import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { messageOf, PtcError } from '../../common/errors.js'

/** The text of a file; `-` is standard input. @throws PtcError RUN_INPUT_INVALID */
export async function readText(file: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    const message = isMissing ? `there is no file ${file}` : `can't read ${file}: ${messageOf(cause)}`
    throw new PtcError('RUN_INPUT_INVALID', message, { cause })
  }
}
