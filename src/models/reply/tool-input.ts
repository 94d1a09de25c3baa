import type { ToolUseBlock } from '../../common/agent/messages.js'
import { isJsonObject, type JsonValue } from '../../common/json/json.js'
import { truncateEnd } from '../../common/text/text.js'

type ToolInput = Pick<ToolUseBlock, 'input' | 'input_problem'>

/** Deeper input is refused, because the runtime can't write or check unlimited depth. */
export const maxInputDepth = 200

/**
 * The input of a tool use, from the JSON text that the model wrote.
 *
 * @param isTruncated the reply was cut, so its input may be incomplete
 */
export function parseToolInput(tool: string, text: string, isTruncated: boolean): ToolInput {
  if (text.trim() === '') return { input: {} }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // JSON has no undefined.
  }
  return toToolInput(tool, value, isTruncated, text)
}

/**
 * The input of a tool use. An input that is not an object is not executed: the model reads what it wrote, and the
 * reason.
 *
 * @param text that the model wrote
 */
export function toToolInput(tool: string, value: unknown, isTruncated: boolean, text = textOf(value)): ToolInput {
  if (value === null) return { input: {} }
  const what = `The arguments of ${truncateEnd(tool, 100)}`
  if (isJsonObject(value)) {
    if (!isDeeperThan(value, maxInputDepth)) return { input: value }
    const problem = `${what} are nested more than ${maxInputDepth} levels deep, so it was not called.`
    return { input: {}, input_problem: problem }
  }
  // A partial program must not be executed.
  if (isTruncated) return { input: {} }
  const problem = `${what} are not a JSON object, so it was not called. Call it again with valid JSON.`
  // Some servers refuse a conversation with invalid arguments.
  return { input: { invalid_json: text }, input_problem: problem }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return isDeeperThan(value, maxInputDepth) ? '(nested too deeply)' : (JSON.stringify(value) ?? '')
}

/** The JSON text of a piece of input. Some servers send the input itself in the place of its text. */
export function inputText(piece: JsonValue | undefined): string {
  return piece === null || piece === undefined ? '' : textOf(piece)
}

export function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(member, depth - 1))
}
