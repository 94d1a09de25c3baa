import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { messageOf, PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import { hasErrorCode } from '../../common/system-error.js'
import { decodeText } from '../../common/text/decode-text.js'

/**
 * The text of a file; `-` is standard input.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readText(file: string): Promise<string> {
  if (file === '-') return decodeText(await buffer(process.stdin), 'standard input', 'RUN_INPUT_INVALID')
  return decodeText(await readBytes(file), file, 'RUN_INPUT_INVALID')
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new PtcError('RUN_INPUT_INVALID', describeFailure(file, cause), { cause })
  }
}

function describeFailure(file: string, thrown: unknown): string {
  if (hasErrorCode(thrown, 'ENOENT')) return `there is no file ${file}`
  if (hasErrorCode(thrown, 'EISDIR')) return `${file} is a folder`
  return `can't read ${file}: ${messageOf(thrown)}`
}

/**
 * A JSON value of the command line: the JSON, or the name of a file that has it.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readJson(valueOrFile: string, option: string): Promise<JsonValue> {
  const value = parseJson(valueOrFile)
  if ('json' in value) return value.json
  // No file name begins like this. A shell may have removed the quotes from JSON.
  if (/^\s*[[{"]/.test(valueOrFile)) {
    throw new PtcError('RUN_INPUT_INVALID', `${option} is not JSON: ${value.problem}`, {
      hint: 'Quote it for the shell, or write it to a file and give its name.',
    })
  }
  const inFile = parseJson(await readText(valueOrFile))
  if ('json' in inFile) return inFile.json
  throw new PtcError('RUN_INPUT_INVALID', `${option}: ${valueOrFile} has no JSON: ${inFile.problem}`)
}

function parseJson(text: string): { readonly json: JsonValue } | { readonly problem: string } {
  try {
    return { json: JSON.parse(text) as JsonValue }
  } catch (thrown) {
    return { problem: messageOf(thrown) }
  }
}
