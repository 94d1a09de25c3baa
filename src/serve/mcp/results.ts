import { type CallToolResult, type ContentBlock, isSpecType } from '@modelcontextprotocol/server'
import type { AgentResult, CallResult, ProgramResult, SessionExecution } from '../../client/index.js'
import type { ValueReader } from '../../client/run-tree/index.js'
import type { CellOutcome } from '../../common/calls/outcomes.js'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { refOf } from '../../common/json/external-value.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { jsonToText, truncateMiddle, utf8Length } from '../../common/text/text.js'

/*
 * The results of tools. A text is complete for the model of the host, because hosts may show it nothing else. Members
 * of `_meta` are for programs. Only a call of a tool has structured content, which repeats its text.
 */

/** Members of `_meta`. */
const metaKeys = {
  id: 'durable-ptc/id',
  session: 'durable-ptc/session',
  status: 'durable-ptc/status',
  exitCode: 'durable-ptc/exit-code',
  usage: 'durable-ptc/usage',
} as const

/** More would fill the context of the host's model. Code reads larger results. */
const maxStructuredBytes = 256 * 1024

/** Images and audio do not count as text. */
const maxContentBytes = 4 * 1024 * 1024

/** @param limit maximum characters of the output */
export function executionResult(id: string, execution: SessionExecution, limit: number): CallToolResult {
  const { session, isNew, outcome } = execution
  const note = isNew ? `\n\n(Session ${session} is new. Give its name to use its variables later.)` : ''
  const result = cellResult(outcome, limit, note)
  const { status, exitCode, usage } = outcome
  return {
    ...result,
    _meta: {
      [metaKeys.id]: id,
      [metaKeys.session]: session,
      [metaKeys.status]: status,
      ...defined({ [metaKeys.exitCode]: exitCode, [metaKeys.usage]: usage }),
    },
  }
}

function cellResult(outcome: CellOutcome, limit: number, note: string): CallToolResult {
  const error = outcome.status === 'ok' ? '' : `\n[${outcome.status}] ${outcome.error}`
  const text = truncateMiddle(`${outcome.output}${error}`.trim(), limit)
  return textResult(`${text === '' ? '(no output)' : text}${note}`, outcome.status !== 'ok')
}

/**
 * The result of an ended run.
 *
 * @param limit maximum characters of the text
 * @throws errors of the value store
 */
export async function runResult(
  id: string,
  result: AgentResult | CallResult | ProgramResult,
  { values, limit }: { readonly values: ValueReader; readonly limit: number },
): Promise<CallToolResult> {
  if (!('answer' in result)) {
    return 'cells' in result ? cellResult(result.outcome, limit, '') : callResult(result, values, limit)
  }
  const { status, answer, output } = result
  const text = output === undefined ? answer : jsonToText(output)
  const isAnswered = status === 'answered'
  return {
    ...textResult(truncateMiddle(isAnswered ? text : `[${status}] ${answer}`.trim(), limit), !isAnswered),
    _meta: { [metaKeys.id]: id, [metaKeys.status]: status },
  }
}

/** @throws errors of the value store */
async function callResult({ outcome }: CallResult, values: ValueReader, limit: number): Promise<CallToolResult> {
  if (outcome.status !== 'ok') return textResult(`[${outcome.status}] ${outcome.message}`, true)
  const bytes = refOf(outcome.value)?.bytes ?? 0
  if (bytes > maxContentBytes) return tooLarge(bytes)
  const value = await loadedValue(outcome.value, values)
  if (isContent(value)) return { content: value }
  const text = jsonToText(value)
  const size = utf8Length(text)
  if (size > maxStructuredBytes) return tooLarge(size)
  // In the protocol of 2025, only objects are structured content.
  const structuredContent = isJsonObject(value) ? value : undefined
  return { ...textResult(truncateMiddle(text, limit), false), ...defined({ structuredContent }) }
}

/** A result in the form of the protocol, such as the images of another MCP server. */
function isContent(value: unknown): value is ContentBlock[] {
  return Array.isArray(value) && value.length > 0 && value.every((block) => isSpecType.ContentBlock(block))
}

function tooLarge(bytes: number): CallToolResult {
  return textResult(`the result has ${bytes} bytes, too many to return it: call the tool in execute_code`, true)
}

const loadMs = 30_000

async function loadedValue(value: JsonValue, values: ValueReader): Promise<JsonValue> {
  if (refOf(value) === undefined) return value
  return values.load(value, 'the result of a call', AbortSignal.timeout(loadMs))
}

/** The result of a request whose work has not ended. */
export function unfinishedResult(id: string, state: string): CallToolResult {
  return {
    ...textResult(`${state}\nThe work continues. Call wait_for_result with the id ${id} for its result.`, false),
    _meta: { [metaKeys.id]: id, [metaKeys.status]: 'running' },
  }
}

/** An error that the model of the host can act on. */
export function errorResult(thrown: unknown): CallToolResult {
  const hint = PtcError.isInstance(thrown) && thrown.hint !== undefined ? ` ${thrown.hint}` : ''
  return textResult(`${messageOf(thrown)}${hint}`, true)
}

export function textResult(text: string, isError: boolean): CallToolResult {
  return { content: [{ type: 'text', text }], ...(isError && { isError }) }
}

/** The arguments of a request. */
export function argumentsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}
