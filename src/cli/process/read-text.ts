import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { messageOf, PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import { decodeText } from '../../common/text/decode-text.js'

/** The text of a file; `-` is standard input. @throws PtcError RUN_INPUT_INVALID */
export async function readText(file: string): Promise<string> {
  if (file === '-') return decodeText(await buffer(process.stdin), 'standard input', 'RUN_INPUT_INVALID')
  return decodeText(await readBytes(file), file, 'RUN_INPUT_INVALID')
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    const message = isMissing ? `there is no file ${file}` : `can't read ${file}: ${messageOf(cause)}`
    throw new PtcError('RUN_INPUT_INVALID', message, { cause })
  }
}

/**
 * A JSON value of the command line: itself, or the name of a file that has it.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readJson(valueOrFile: string, option: string): Promise<JsonValue> {
  const value = parseJson(valueOrFile)
  if (value !== undefined) return value
  const inFile = parseJson(await readText(valueOrFile))
  if (inFile !== undefined) return inFile
  throw new PtcError('RUN_INPUT_INVALID', `${option}: ${valueOrFile} has no JSON`)
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
