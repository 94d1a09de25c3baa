import type { JsonObject } from '../../dist/common/json/json.js'
import { describeWithExamples } from '../../dist/models/request/describe-tools.js'

export interface DirectCall {
  readonly name: string
  readonly input: Readonly<Record<string, string>>
  /** The result as JSON. */
  readonly result: string
}

interface DocumentedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly inputExamples: readonly JsonObject[]
}

/**
 * Number of bytes that a model reads and writes when it calls the tools directly: all requests of the Messages API,
 * without a system prompt, and the answer.
 *
 * @param turns the calls of each turn, which are in one reply
 */
export function directCallBytes(
  tools: readonly DocumentedTool[],
  question: string,
  turns: readonly (readonly DirectCall[])[],
  answer: string,
): number {
  const offered = tools.map((tool) => {
    return { name: tool.name, description: describeWithExamples(tool), input_schema: tool.inputSchema }
  })
  const messages: object[] = [{ role: 'user', content: question }]
  let total = Buffer.byteLength(answer)
  for (const [turn, calls] of [...turns, []].entries()) {
    total += Buffer.byteLength(JSON.stringify({ tools: offered, messages }))
    const id = (index: number): string => `toolu_${turn}_${index}`
    const uses = calls.map(({ name, input }, index) => ({ type: 'tool_use', id: id(index), name, input }))
    const results = calls.map(({ result }, index) => ({ type: 'tool_result', tool_use_id: id(index), content: result }))
    messages.push({ role: 'assistant', content: uses }, { role: 'user', content: results })
  }
  return total
}
