import { maxAnswerBytes, type QuestionAnswer, type ToolQuestion } from '../../common/calls/questions.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { utf8Length } from '../../common/text/text.js'
import { fromJsonSchema } from '../validation/json-schema.js'
import { parseValueNow } from '../validation/parse-value.js'

/** Milliseconds of processor time for the check of an answer. */
const maxCheckMs = 500

/**
 * Returns the answer of a person as the schema of the question wants it. A text answers a question with one member, and
 * may be the JSON of the whole answer.
 *
 * @throws PtcError TOOL_OUTPUT_INVALID when the answer does not fit
 */
export function answerOf({ schema }: Pick<ToolQuestion, 'schema'>, value: JsonValue): QuestionAnswer {
  if (schema === undefined) return { action: 'accept' }
  const content = contentOf(schema, value)
  const bytes = utf8Length(JSON.stringify(content))
  if (bytes > maxAnswerBytes) throw unfit(schema, `it has ${bytes} bytes; the limit is ${maxAnswerBytes}`)
  const parsed = check(schema, content)
  if (!parsed.ok) throw unfit(schema, `\n${parsed.issues}`)
  return { action: 'accept', content: parsed.value as JsonObject }
}

function check(schema: JsonObject, content: JsonValue): ReturnType<typeof parseValueNow> {
  try {
    return parseValueNow(fromJsonSchema(schema, { appliesDefaults: true, checksFormats: true }), content, maxCheckMs)
  } catch (thrown) {
    throw unfit(schema, `its schema can't be checked: ${messageOf(thrown)}`)
  }
}

function contentOf(schema: JsonObject, value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value
  const members = Object.entries(membersOf(schema))
  const [only, ...others] = members
  if (only && others.length === 0) {
    const [name, member] = only
    if (!isJsonText(value)) return { [name]: fromText(isJsonObject(member) ? member['type'] : undefined, value) }
  }
  return isJsonText(value) ? (JSON.parse(value) as JsonValue) : value
}

function membersOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {}
}

function isJsonText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text) as JsonValue)
  } catch {
    return false
  }
}

/** The text as a value of a type of JSON Schema. One that does not fit stays a text, which the schema refuses. */
function fromText(type: JsonValue | undefined, text: string): JsonValue {
  const plain = text.trim()
  if (type === 'number' || type === 'integer') return plain === '' || Number.isNaN(Number(plain)) ? text : Number(plain)
  if (type === 'boolean') return truthValues[plain.toLowerCase()] ?? text
  if (type === 'array') return plain.split(',').map((part) => part.trim())
  return text
}

const truthValues: Readonly<Record<string, boolean>> = Object.assign(Object.create(null) as Record<string, boolean>, {
  true: true,
  yes: true,
  y: true,
  false: false,
  no: false,
  n: false,
})

function unfit(schema: JsonObject, problem: string): PtcError {
  const members = Object.entries(membersOf(schema)).map(([name, member]) => {
    const type = isJsonObject(member) && typeof member['type'] === 'string' ? member['type'] : 'any'
    return `${name} (${type})`
  })
  return new PtcError('TOOL_OUTPUT_INVALID', `the answer does not fit the question: ${problem}`, {
    hint: `It has the members ${members.join(', ')}: a JSON object, or a text when there is one member.`,
  })
}
