import type { LostCode, ServerToolUse } from '../../common/runs/hosted-code.js'
import { isToolUseBlock, type Message, type UnknownBlock, type UserBlock } from '../../common/runs/messages.js'
import { truncateMiddle } from '../../common/text/text.js'

/** Maximum characters of the results of lost code that the model reads. */
const resultCharacters = 20_000

/**
 * Returns the messages of a turn after hosted code was lost. Every server tool use gets the result that the API writes
 * when the tool is not available, so that the API stops waiting. Then the model reads what happened: it would not see
 * the results for code otherwise, and must not repeat calls that have had an effect.
 *
 * @param earlier the messages before
 * @param now the next user message, if there is one
 */
export function endLostCode(
  earlier: readonly Message[],
  now: readonly Message[],
  { uses, reason }: LostCode,
): readonly Message[] {
  const blocks: readonly UserBlock[] = now.flatMap(({ role, content }) => (role === 'user' ? content : []))
  const results = blocks.filter(({ type }) => type === 'tool_result')
  const others = blocks.filter(({ type }) => type !== 'tool_result')
  const note: UserBlock = { type: 'text', text: noteOf(reason, uses, callsOf(earlier, results)) }
  if (uses.length === 0) return [{ role: 'user', content: [...results, note, ...others] }]
  return [
    ...(results.length === 0 ? [] : [{ role: 'user', content: results } as const]),
    { role: 'assistant', content: uses.map(errorResult) },
    { role: 'user', content: [note, ...others] },
  ]
}

function errorResult({ id, name }: ServerToolUse): UnknownBlock {
  const content = { type: `${name}_tool_result_error`, error_code: 'unavailable' }
  return { type: `${name}_tool_result`, tool_use_id: id, content }
}

function noteOf(reason: LostCode['reason'], uses: readonly ServerToolUse[], calls: readonly string[]): string {
  const lines = [
    reason === 'expired'
      ? '[container_expired] The container of your code is gone, with its variables and files.'
      : '[stopped] Your code was given up while it waited for results. Its variables and files are gone.',
    ...(uses.length > 0 ? ['The code that waited did not continue.'] : []),
  ]
  if (calls.length > 0) {
    lines.push('It had made these calls. They are done, so do not repeat them:')
    lines.push(truncateMiddle(calls.join('\n'), resultCharacters))
  }
  lines.push('Run code again for what is missing. Code waits about 4 minutes for a result: call slow tools directly.')
  return lines.join('\n')
}

/** Lists the calls of the last reply with their results, one per line. */
function callsOf(earlier: readonly Message[], results: readonly UserBlock[]): readonly string[] {
  const last = earlier.findLast(({ role }) => role === 'assistant')
  const uses = last?.role === 'assistant' ? last.content.filter(isToolUseBlock) : []
  return results.flatMap((block) => {
    const use = block.type === 'tool_result' ? uses.find(({ id }) => id === block.tool_use_id) : undefined
    if (block.type !== 'tool_result' || use === undefined) return []
    return [`- ${use.name}(${JSON.stringify(use.input)}) -> ${block.content}`]
  })
}
