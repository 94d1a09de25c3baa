// Types only: users do not install `ai`. So exported functions return `object`, and the emitted types do not name it.
import type { FinishReason, UIMessageChunk } from 'ai'
import type { ConversationAnswer } from '../../client/index.js'
import type { StreamEvent } from '../../stream/index.js'
import { executeCodeTool } from '../../common/names.js'
import { publicError } from '../errors.js'
import { type ApprovalResponse, approvalIdOf } from './approvals.js'

/** `providerExecuted`: a front end must not run the tool. `dynamic`: the front end does not know the tool's types. */
const toolFlags = { dynamic: true, providerExecuted: true } as const

function failedCall(toolCallId: string, errorText: string): UIMessageChunk {
  return { type: 'tool-output-error', toolCallId, errorText, ...toolFlags }
}

const answerPrefix = 'answer-'

/** The id of the message that an answer is for; undefined when this server did not write the answer. */
export function messageIdOf(answerId: string): string | undefined {
  return answerId.startsWith(answerPrefix) ? answerId.slice(answerPrefix.length) : undefined
}

type EventOf<Type extends StreamEvent['type']> = Extract<StreamEvent, { readonly type: Type }>

/** Code that the model has written, until the cell that executes it ends. */
interface CodeCall {
  readonly toolCallId: string
  code: string
}

/** A call that waits for its approval, or whose approval was denied. The stream does not tell these states apart. */
interface WaitingCall {
  readonly event: EventOf<'approval.requested'>
  readonly checks: number
}

/** The history may be older than the stream. A call that does not wait after this many looks was denied. */
const maxChecks = 10

/**
 * Turns the events of a message into the parts of the AI SDK's UI message stream. A turn is a step. Code is the input
 * of the tool `execute_code`, and its output is the output of that tool. Each call of a tool is its own part.
 */
export class UiMessageStream {
  /** Texts that have begun and not ended, by id. */
  readonly #texts = new Set<string>()
  /** Code that the model is writing, by id. */
  readonly #writing = new Map<string, CodeCall>()
  /** Code whose cell has not begun, in order. */
  readonly #written: CodeCall[] = []
  /** The running cell. */
  #cell: (CodeCall & { readonly output: { readonly unit: string; readonly text: string }[] }) | undefined
  readonly #calls = new Set<string>()
  /** Calls that wait for their approval and are not shown yet, by key. */
  readonly #approvals = new Map<string, WaitingCall>()
  /** Calls that the front end has approved and that have not begun. */
  readonly #approved = new Set<string>()
  #offset = ''
  /** Texts of the last turn that has any and is not void. */
  #lastTexts = new Map<string, string>()
  #isInStep = false

  /** @param id of the message that is being answered */
  start(id: string): readonly object[] {
    return [{ type: 'start', messageId: `${answerPrefix}${id}` } satisfies UIMessageChunk]
  }

  add(event: StreamEvent): readonly object[] {
    this.#offset = event.offset
    switch (event.type) {
      case 'turn.started':
        this.#approvals.clear()
        return this.#beginStep()
      case 'text.delta':
        return this.#text(event)
      case 'code.delta':
        return this.#code(event)
      case 'turn.completed':
        return this.#endWriting()
      case 'cell.started':
        return this.#beginCell(event)
      case 'output.delta':
        this.#cell?.output.push(event)
        return []
      case 'cell.completed':
      case 'cell.failed':
        return this.#endCell(event)
      case 'approval.requested':
        this.#approvals.set(event.call, { event, checks: 0 })
        return []
      case 'call.started':
        return this.#beginCall(event)
      case 'milestone.reached':
        return this.#milestone(event)
      case 'call.completed':
      case 'call.deferred':
      case 'call.failed':
        return this.#endCall(event)
      case 'reset':
        return this.#reset(event)
      // An attempt failed. A reset announces its repetition, or the answer of the message reports the failure.
      case 'turn.failed':
      // The stream sends the output of a cell at its end.
      case 'output.preview':
      case 'compaction.started':
      case 'compaction.completed':
      case 'compaction.failed':
      case 'sampling.started':
      case 'sampling.completed':
      case 'sampling.failed':
      case 'retry':
      case 'gap':
      case 'request.refused':
      case 'request.started':
      case 'request.completed':
      case 'request.failed':
      case 'budget.spent':
      // The answer names files.
      case 'file.uploaded':
      case 'file.kept':
      case 'turn.progressed':
      case 'run.started':
      case 'end':
        return []
    }
  }

  /** Whether calls wait for their approval and the stream shows no other work in progress. */
  get isWaiting(): boolean {
    return this.#approvals.size > 0 && this.#calls.size === 0
  }

  /**
   * Requests the approvals of these calls and ends the response: a front end sends its decisions afterwards. The
   * requests are a step of their own, because the code that made the calls has not ended.
   *
   * @param waiting keys of the calls that wait according to the history
   * @returns nothing when none of the calls waits: the response continues
   */
  requestApprovals(waiting: ReadonlySet<string>): readonly object[] {
    const known = [...this.#approvals.values()]
    const requests = known.filter(({ event }) => waiting.has(event.call))
    for (const { event, checks } of known)
      if (checks < maxChecks) this.#approvals.set(event.call, { event, checks: checks + 1 })
      else this.#approvals.delete(event.call)
    if (requests.length === 0) return []
    const chunks = requests.flatMap(
      ({ event: { call: toolCallId, tool: toolName, summary } }): readonly UIMessageChunk[] => [
        { type: 'tool-input-available', toolCallId, toolName, input: { summary }, ...toolFlags },
        { type: 'tool-approval-request', toolCallId, approvalId: approvalIdOf(toolCallId, this.#offset) },
      ],
    )
    const metadata = { finishReason: 'tool-calls', messageMetadata: { status: 'waits_for_approval' } } as const
    const ends: readonly UIMessageChunk[] = [{ type: 'finish-step' }, { type: 'finish', ...metadata }]
    return [...this.#beginStep(), ...chunks, ...ends]
  }

  /** Sends the decisions of a front end. Its message already has the parts of the calls. */
  respond(responses: readonly ApprovalResponse[]): readonly object[] {
    return responses.flatMap(({ call, approved }): readonly UIMessageChunk[] => {
      this.#approvals.delete(call)
      if (approved) this.#approved.add(call)
      return approved ? [] : [{ type: 'tool-output-denied', toolCallId: call }]
    })
  }

  /** Adds the rest of the message from the answer, which also has what the stream lost. */
  finish({ status, answer, error }: ConversationAnswer): readonly object[] {
    const chunks: UIMessageChunk[] = [...this.#endWriting()]
    const unfinished = [...this.#written.splice(0), ...(this.#cell ? [this.#cell] : [])].map((each) => each.toolCallId)
    for (const toolCallId of new Set([...unfinished, ...this.#calls, ...this.#approved]))
      chunks.push(failedCall(toolCallId, 'the result is not in the stream'))
    const isShown = [...this.#lastTexts.values()].join('\n\n') === answer
    const id = 'answer'
    if (!isShown && answer !== '')
      chunks.push({ type: 'text-start', id }, { type: 'text-delta', id, delta: answer }, { type: 'text-end', id })
    if (this.#isInStep) chunks.push({ type: 'finish-step' })
    if (error) chunks.push({ type: 'error', errorText: `${error.code}: ${publicError(error).message}` })
    if (status === 'interrupted') chunks.push({ type: 'abort', reason: 'interrupted' })
    chunks.push({ type: 'finish', finishReason: finishReasons[status] ?? 'other', messageMetadata: { status } })
    return chunks
  }

  #beginStep(): readonly UIMessageChunk[] {
    const end: readonly UIMessageChunk[] = this.#isInStep ? [{ type: 'finish-step' }] : []
    this.#isInStep = true
    return [...this.#endWriting(), ...end, { type: 'start-step' }]
  }

  #text({ unit, attempt, block, text: delta }: EventOf<'text.delta'>): readonly UIMessageChunk[] {
    const id = `${unit}/${attempt}/${block}`
    const isNew = !this.#texts.has(id)
    if (this.#texts.size === 0 && isNew) this.#lastTexts = new Map()
    this.#texts.add(id)
    this.#lastTexts.set(id, (this.#lastTexts.get(id) ?? '') + delta)
    return [...(isNew ? [{ type: 'text-start', id } as const] : []), { type: 'text-delta', id, delta }]
  }

  #code({ unit, attempt, block, text }: EventOf<'code.delta'>): readonly UIMessageChunk[] {
    const toolCallId = `${unit}/${attempt}/${block}`
    const known = this.#writing.get(toolCallId)
    const piece = JSON.stringify(text).slice(1, -1)
    if (known) {
      known.code += text
      return [{ type: 'tool-input-delta', toolCallId, inputTextDelta: piece }]
    }
    this.#writing.set(toolCallId, { toolCallId, code: text })
    return [
      { type: 'tool-input-start', toolCallId, toolName: executeCodeTool, ...toolFlags },
      { type: 'tool-input-delta', toolCallId, inputTextDelta: `{"code":"${piece}` },
    ]
  }

  /** The reply of a turn is complete. */
  #endWriting(): readonly UIMessageChunk[] {
    const texts = [...this.#texts].map((id) => ({ type: 'text-end', id }) as const)
    this.#texts.clear()
    const calls = [...this.#writing.values()]
    this.#writing.clear()
    this.#written.push(...calls)
    const inputs = calls.map(({ toolCallId, code }): UIMessageChunk => {
      return { type: 'tool-input-available', toolCallId, toolName: executeCodeTool, input: { code }, ...toolFlags }
    })
    return [...texts, ...inputs]
  }

  #beginCell({ language }: EventOf<'cell.started'>): readonly UIMessageChunk[] {
    const [call] = this.#written.splice(0, 1)
    this.#cell = call && { ...call, output: [] }
    if (!call || language === undefined) return []
    const { toolCallId, code } = call
    const input = { code, language }
    return [{ type: 'tool-input-available', toolCallId, toolName: executeCodeTool, input, ...toolFlags }]
  }

  #endCell(event: EventOf<'cell.completed' | 'cell.failed'>): readonly UIMessageChunk[] {
    const cell = this.#cell
    this.#cell = undefined
    if (!cell) return []
    const { toolCallId } = cell
    const output = cell.output.map(({ text }) => text).join('')
    if (event.type === 'cell.completed')
      return [{ type: 'tool-output-available', toolCallId, output: { status: 'completed', output }, ...toolFlags }]
    return [failedCall(toolCallId, `${output}${event.error}`)]
  }

  #beginCall({ call: toolCallId, tool: toolName, summary }: EventOf<'call.started'>): readonly UIMessageChunk[] {
    this.#calls.add(toolCallId)
    this.#approvals.delete(toolCallId)
    if (this.#approved.delete(toolCallId)) return []
    return [{ type: 'tool-input-available', toolCallId, toolName, input: { summary }, ...toolFlags }]
  }

  #milestone({ call: toolCallId, text: milestone }: EventOf<'milestone.reached'>): readonly UIMessageChunk[] {
    if (!this.#calls.has(toolCallId)) return []
    return [{ type: 'tool-output-available', toolCallId, output: { milestone }, preliminary: true, ...toolFlags }]
  }

  #endCall(event: EventOf<'call.completed' | 'call.deferred' | 'call.failed'>): readonly UIMessageChunk[] {
    const { call: toolCallId } = event
    // The call may have begun before the first event of the message.
    if (!this.#calls.delete(toolCallId)) return []
    if (event.type === 'call.failed') return [failedCall(toolCallId, event.status)]
    const status = event.type === 'call.deferred' ? 'deferred' : 'ok'
    return [{ type: 'tool-output-available', toolCallId, output: { status }, ...toolFlags }]
  }

  /**
   * The protocol can't take parts back: a data part says that they are void. The output of a running cell is not sent
   * yet.
   */
  #reset({ unit }: EventOf<'reset'>): readonly UIMessageChunk[] {
    if (!unit.startsWith('turn/')) {
      if (this.#cell) this.#cell = { ...this.#cell, output: this.#cell.output.filter((each) => each.unit !== unit) }
      return []
    }
    const ends = this.#endWriting()
    this.#lastTexts = new Map()
    const voided = this.#written.splice(0).map(({ toolCallId }) => failedCall(toolCallId, 'repeated'))
    return [...ends, ...voided, { type: 'data-reset', data: { reason: 'retry' } }]
  }
}

const finishReasons: Partial<Readonly<Record<ConversationAnswer['status'], FinishReason>>> = {
  answered: 'stop',
  truncated: 'length',
  refused: 'content-filter',
  failed: 'error',
}
