import type { CallNode, CellNode, RunTree, TurnNode } from '../../client/index.js'
import { describeRef } from '../../client/run-tree/index.js'
import { isPending } from '../../client/run-tree/tree.js'
import { PtcError } from '../../common/errors.js'
import { isExternal, type ValueRef } from '../../common/json/external-value.js'
import type { JsonObject } from '../../common/json/json.js'
import { addUsage, zeroUsage } from '../../common/run/runs.js'
import type { Usage } from '../../common/agent/messages.js'

/** A block of an assistant message. */
export type ReplyBlock = JsonObject & { readonly type: string }

/** An item of the work on a message, in order: the start of a turn, or a block. */
interface Item {
  readonly usage?: Usage
  readonly block?: ReplyBlock
  readonly call?: CallNode
  /** The value store did not return a large part. */
  readonly isUnread?: boolean
}

/** A call of a conversation, by the id that its client knows. */
export interface KnownCall {
  readonly id: string
  readonly message: string
  readonly call: CallNode
}

/** The calls of all messages that their clients have seen. */
export function knownCalls({ turns }: RunTree): readonly KnownCall[] {
  return turns.flatMap((turn) =>
    [...turn.directCalls, ...turn.cells.flatMap(({ calls }) => calls)].flatMap((call) => {
      const id = idOf(call)
      return id === undefined || turn.message === undefined ? [] : [{ id, message: turn.message, call }]
    }),
  )
}

/** The blocks of one response, and the usage of its turns. */
export interface ReplyContent {
  readonly blocks: readonly ReplyBlock[]
  readonly usage: Usage
  /** The earliest expiry of its calls, in milliseconds since the epoch; undefined when no call waits. */
  readonly expiresAt: number | undefined
}

/**
 * The blocks of a message that follow these calls.
 *
 * @param after ids of calls whose results the client has sent; empty: from the start of the message
 */
export function replyAfter(
  { turns }: RunTree,
  message: string,
  after: ReadonlySet<string>,
  codeCaller: string,
): ReplyContent {
  const items = turns.filter((turn) => turn.message === message).flatMap((turn) => turnItems(turn, codeCaller))
  return toReply(items.slice(items.findLastIndex(({ call }) => call && after.has(idOf(call) ?? '')) + 1))
}

/**
 * The reply to a plain request is the reply of the last turn. Earlier turns had invalid calls, whose errors the model
 * has read.
 */
export function plainReply({ turns }: RunTree, message: string): ReplyContent {
  const replies = turns.flatMap((turn) =>
    turn.message === message && turn.model?.status === 'ok' ? [{ ...turn.model, calls: turn.directCalls }] : [],
  )
  const { text = '', calls = [] } = replies.at(-1) ?? {}
  return toReply([
    ...replies.map(({ usage }) => ({ usage })),
    ...textItem(text),
    // A call of a plain request does not run in this package. A refused call has ended.
    ...calls.filter(({ status }) => isPending(status)).map((call) => callBlock(call, call.toolUse ?? '')),
  ])
}

function toReply(items: readonly Item[]): ReplyContent {
  if (items.some(({ isUnread }) => isUnread))
    throw new PtcError('VALUE_STORE_UNAVAILABLE', 'the value store does not give a large part of the response')
  const waits = items.flatMap(({ call }) => call?.deferred?.expiresAt ?? [])
  return {
    blocks: items.flatMap(({ block }) => block ?? []),
    usage: items.reduce((sum, { usage = zeroUsage }) => addUsage(sum, usage), zeroUsage),
    expiresAt: waits.length === 0 ? undefined : Math.min(...waits),
  }
}

function turnItems({ model, cells, directCalls }: TurnNode, codeCaller: string): readonly Item[] {
  if (model?.status !== 'ok') return []
  return [
    { usage: model.usage },
    ...textItem(model.text),
    ...cells.flatMap(codeItem),
    ...directCalls.flatMap((call) => callItem(call, { type: 'direct' })),
    ...cells.flatMap((cell) => [
      ...cell.calls.flatMap((call) => callItem(call, { type: codeCaller, tool_id: serverUse(cell.toolUse) })),
      ...codeResultItem(cell),
    ]),
  ]
}

function codeItem({ toolUse, code, codeRef }: CellNode): readonly Item[] {
  if (toolUse === undefined) return []
  const caller = { type: 'direct' }
  const block = { type: 'server_tool_use', id: serverUse(toolUse), name: 'code_execution', input: { code }, caller }
  return [{ block, isUnread: codeRef !== undefined && isPreviewed(code, codeRef) }]
}

function callItem(call: CallNode, caller: JsonObject): readonly Item[] {
  const id = idOf(call)
  if (id === undefined) return []
  return [{ ...callBlock(call, id, caller), call }]
}

function callBlock(call: CallNode, id: string, caller: JsonObject = { type: 'direct' }) {
  const block = { type: 'tool_use', id, name: call.tool, input: call.arguments, caller }
  return { block, isUnread: isExternal(call.arguments) }
}

function textItem(text: string): readonly Item[] {
  return text === '' ? [] : [{ block: { type: 'text', text } }]
}

function codeResultItem({ toolUse, status, output: stdout, outputRefs, error = '' }: CellNode): readonly Item[] {
  if (toolUse === undefined || status === 'waiting' || status === 'running' || status === 'interrupted') return []
  const stderr = status === 'ok' || status === 'code_error' ? error : `[${status}] ${error}`
  const content = {
    type: 'code_execution_result',
    stdout,
    stderr,
    return_code: status === 'ok' ? 0 : 1,
    content: [],
  }
  const block = { type: 'code_execution_tool_result', tool_use_id: serverUse(toolUse), content }
  return [{ block, isUnread: outputRefs.some((ref) => isPreviewed(stdout, ref)) }]
}

/** Whether a text has the description of a value instead of the value. */
function isPreviewed(text: string, ref: ValueRef): boolean {
  return text.includes(`[${describeRef(ref)}; it begins:]`)
}

/** Undefined for a refused call, which its client does not see. */
function idOf({ caller, toolUse, idempotencyKey }: CallNode): string | undefined {
  if (idempotencyKey === undefined) return undefined
  return caller === 'direct' ? toolUse : `toolu_${idempotencyKey}`
}

/** The id of a server tool use, from the engine's tool use with its code. */
function serverUse(toolUse = ''): string {
  return `srvtoolu_${toolUse.replace(/^toolu_/, '')}`
}
