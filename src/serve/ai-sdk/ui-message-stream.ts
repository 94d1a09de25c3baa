import type { ConversationAnswer, StreamEvent } from '../../client/index.js'
import { executeCodeTool } from '../../common/names.js'
import { type FinishReason, toolFlags, type UiChunk } from './chunks.js'

type EventOf<Type extends StreamEvent['type']> = Extract<StreamEvent, { readonly type: Type }>

/** Code that the model has written, until the cell that executes it has ended. */
interface CodeCall {
  readonly toolCallId: string
  code: string
}

/**
 * Turns the events of a message into the parts of the AI SDK's UI message stream. A turn is a step. Code is the input of
 * the tool `execute_code`, and its output the output of that tool. Calls of tools are parts of their own.
 */
export class UiMessageStream {
  /** Texts that have begun and not ended, by id. */
  readonly #texts = new Set<string>()
  /** Code that is written, by id. */
  readonly #writing = new Map<string, CodeCall>()
  /** Code whose cell has not begun, in its order. */
  readonly #written: CodeCall[] = []
  /** The cell that runs. */
  #cell: (CodeCall & { readonly output: { readonly unit: string; readonly text: string }[] }) | undefined
  readonly #calls = new Set<string>()
  /** Texts of the last turn that had any, and is not void. */
  #lastTexts = new Map<string, string>()
  #isInStep = false

  /** @param id of the message that is answered */
  start(id: string): readonly UiChunk[] {
    return [{ type: 'start', messageId: `answer-${id}` }]
  }

  add(event: StreamEvent): readonly UiChunk[] {
    switch (event.type) {
      case 'turn.begins':
        return this.#beginStep()
      case 'text':
        return this.#text(event)
      case 'code':
        return this.#code(event)
      case 'turn.ends':
        return this.#endWriting()
      case 'cell.begins':
        return this.#beginCell()
      case 'output':
        this.#cell?.output.push(event)
        return []
      case 'cell.ends':
        return this.#endCell(event)
      case 'call.begins':
        return this.#beginCall(event)
      case 'milestone':
        return this.#milestone(event)
      case 'call.ends':
        return this.#endCall(event)
      case 'reset':
        return this.#reset(event)
      // An attempt that failed is repeated, which a reset says, or the message fails, which its answer says.
      case 'turn.fails':
      case 'compaction.begins':
      case 'compaction.ends':
      case 'compaction.fails':
      case 'retry':
      case 'gap':
      case 'status':
      case 'run.begins':
      case 'end':
        return []
    }
  }

  /** The answer has everything: also what the stream lost. */
  finish({ status, answer, error }: ConversationAnswer): readonly UiChunk[] {
    const chunks: UiChunk[] = [...this.#endWriting()]
    const unfinished = [...this.#written.splice(0), ...(this.#cell ? [this.#cell] : [])].map((each) => each.toolCallId)
    for (const toolCallId of [...unfinished, ...this.#calls])
      chunks.push({ type: 'tool-output-error', toolCallId, errorText: 'the result is not in the stream', ...toolFlags })
    const isShown = [...this.#lastTexts.values()].join('\n\n') === answer
    if (!isShown && answer !== '')
      chunks.push(
        { type: 'text-start', id: 'answer' },
        { type: 'text-delta', id: 'answer', delta: answer },
        {
          type: 'text-end',
          id: 'answer',
        },
      )
    if (this.#isInStep) chunks.push({ type: 'finish-step' })
    if (error) chunks.push({ type: 'error', errorText: `${error.code}: ${error.message}` })
    if (status === 'interrupted') chunks.push({ type: 'abort', reason: 'interrupted' })
    return [...chunks, { type: 'finish', finishReason: finishReasons[status] ?? 'other', messageMetadata: { status } }]
  }

  #beginStep(): readonly UiChunk[] {
    const end: readonly UiChunk[] = this.#isInStep ? [{ type: 'finish-step' }] : []
    this.#isInStep = true
    return [...this.#endWriting(), ...end, { type: 'start-step' }]
  }

  #text({ unit, attempt, block, text: delta }: EventOf<'text'>): readonly UiChunk[] {
    const id = `${unit}/${attempt}/${block}`
    const isNew = !this.#texts.has(id)
    if (this.#texts.size === 0 && isNew) this.#lastTexts = new Map()
    this.#texts.add(id)
    this.#lastTexts.set(id, (this.#lastTexts.get(id) ?? '') + delta)
    return [...(isNew ? [{ type: 'text-start', id } as const] : []), { type: 'text-delta', id, delta }]
  }

  #code({ unit, attempt, block, text }: EventOf<'code'>): readonly UiChunk[] {
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
  #endWriting(): readonly UiChunk[] {
    const texts = [...this.#texts].map((id) => ({ type: 'text-end', id }) as const)
    this.#texts.clear()
    const calls = [...this.#writing.values()]
    this.#writing.clear()
    this.#written.push(...calls)
    const inputs = calls.map(({ toolCallId, code }) => {
      return {
        type: 'tool-input-available',
        toolCallId,
        toolName: executeCodeTool,
        input: { code },
        ...toolFlags,
      } as const
    })
    return [...texts, ...inputs]
  }

  #beginCell(): readonly UiChunk[] {
    const [call] = this.#written.splice(0, 1)
    this.#cell = call && { ...call, output: [] }
    return []
  }

  #endCell({ status, error }: EventOf<'cell.ends'>): readonly UiChunk[] {
    const cell = this.#cell
    this.#cell = undefined
    if (!cell) return []
    const { toolCallId } = cell
    const output = cell.output.map(({ text }) => text).join('')
    if (error === undefined)
      return [{ type: 'tool-output-available', toolCallId, output: { status, output }, ...toolFlags }]
    return [{ type: 'tool-output-error', toolCallId, errorText: `${output}${error}`, ...toolFlags }]
  }

  #beginCall({ call: toolCallId, tool: toolName, summary }: EventOf<'call.begins'>): readonly UiChunk[] {
    this.#calls.add(toolCallId)
    return [{ type: 'tool-input-available', toolCallId, toolName, input: { summary }, ...toolFlags }]
  }

  #milestone({ call: toolCallId, text: milestone }: EventOf<'milestone'>): readonly UiChunk[] {
    if (!this.#calls.has(toolCallId)) return []
    return [{ type: 'tool-output-available', toolCallId, output: { milestone }, preliminary: true, ...toolFlags }]
  }

  #endCall({ call: toolCallId, status }: EventOf<'call.ends'>): readonly UiChunk[] {
    // The call may have begun before the message's first event.
    if (!this.#calls.delete(toolCallId)) return []
    if (status === 'ok' || status === 'deferred')
      return [{ type: 'tool-output-available', toolCallId, output: { status }, ...toolFlags }]
    return [{ type: 'tool-output-error', toolCallId, errorText: status, ...toolFlags }]
  }

  /** The protocol can't take parts back: a turn says that they are void, and what a cell has printed is not sent yet. */
  #reset({ unit }: EventOf<'reset'>): readonly UiChunk[] {
    if (!unit.startsWith('turn/')) {
      if (this.#cell) this.#cell = { ...this.#cell, output: this.#cell.output.filter((each) => each.unit !== unit) }
      return []
    }
    const ends = this.#endWriting()
    this.#lastTexts = new Map()
    const voided = this.#written.splice(0).map(({ toolCallId }) => {
      return { type: 'tool-output-error', toolCallId, errorText: 'repeated', ...toolFlags } as const
    })
    return [...ends, ...voided, { type: 'data-reset', data: { reason: 'retry' } }]
  }
}

const finishReasons: Partial<Readonly<Record<ConversationAnswer['status'], FinishReason>>> = {
  answered: 'stop',
  truncated: 'length',
  refused: 'content-filter',
  failed: 'error',
}
