import { invalidRequest } from './api-error.js'
import { isToolResult, isToolUse, type RequestBlock, type RequestMessage } from './request-schema.js'

interface LocatedBlock {
  readonly block: RequestBlock
  readonly message: number
  readonly position: number
}

/** Consecutive messages of one role, which the API treats as one turn. */
interface MergedTurn {
  readonly role: string
  readonly firstMessage: number
  readonly blocks: LocatedBlock[]
}

/**
 * Checks that every `tool_use` has exactly one `tool_result`, at the start of the next turn.
 *
 * @throws ApiError
 */
export function checkToolPairing(messages: readonly RequestMessage[]): void {
  checkUniqueIds(messages)
  const turns = mergeTurns(messages)
  for (const [index, turn] of turns.entries()) {
    const toolUseIds = turn.blocks.flatMap(({ block }) => (isToolUse(block) ? [block.id] : []))
    const next = turns[index + 1]?.blocks ?? []
    checkResultsPresent(toolUseIds, next, turn.firstMessage)
    const previousToolUseIds =
      turns[index - 1]?.blocks.flatMap(({ block }) => (isToolUse(block) ? [block.id] : [])) ?? []
    checkResultsExpected(turn, previousToolUseIds)
  }
}

function mergeTurns(messages: readonly RequestMessage[]): readonly MergedTurn[] {
  const turns: MergedTurn[] = []
  for (const [message, { role, content }] of messages.entries()) {
    let turn = turns.at(-1)
    if (turn?.role !== role) {
      turn = { role, firstMessage: message, blocks: [] }
      turns.push(turn)
    }
    turn.blocks.push(...content.map((block, position) => ({ block, message, position })))
  }
  return turns
}

function checkUniqueIds(messages: readonly RequestMessage[]): void {
  const seen = new Set<string>()
  for (const [message, { content }] of messages.entries()) {
    for (const [position, block] of content.entries()) {
      if (!isToolUse(block)) continue
      if (seen.has(block.id)) {
        throw invalidRequest(`messages.${message}.content.${position}: \`tool_use\` ids must be unique`)
      }
      seen.add(block.id)
    }
  }
}

/** Checks that all results are present. Only results that precede every other block count. */
function checkResultsPresent(asked: readonly string[], next: readonly LocatedBlock[], message: number): void {
  const end = next.findIndex(({ block }) => !isToolResult(block))
  const leading = end === -1 ? next : next.slice(0, end)
  const answered = new Set(leading.flatMap(({ block }) => (isToolResult(block) ? [block.tool_use_id] : [])))
  const missing = asked.filter((id) => !answered.has(id))
  if (missing.length === 0) return
  throw invalidRequest(
    `messages.${message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. ` +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  )
}

function checkResultsExpected(turn: MergedTurn, asked: readonly string[]): void {
  const answered = new Set<string>()
  for (const { block, message, position } of turn.blocks) {
    if (!isToolResult(block)) continue
    const id = block.tool_use_id
    if (!asked.includes(id)) {
      throw invalidRequest(
        `messages.${message}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      )
    }
    if (answered.has(id)) {
      throw invalidRequest(
        `messages.${message}.content.${position}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      )
    }
    answered.add(id)
  }
}
