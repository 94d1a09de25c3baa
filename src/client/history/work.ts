import { activityNames } from '../../common/names.js'
import type { ValueRef } from '../../common/values.js'
import { type CodeUse, codeUses, isServed, textOfBlocks, toolResults, totalBytes } from './blocks.js'
import { bytesOf, refIn } from './elsewhere.js'
import type { AdvanceResult, DescribedCall, StepInput, ToolInput } from './payload-shapes.js'
import * as shapes from './payload-shapes.js'
import type { ModelAnswer } from './tree.js'

/** What an activity was asked to do, as far as the tree needs it. Large values stay behind. */
export type Work =
  | { readonly type: 'plan' }
  | {
      readonly type: 'model'
      readonly turn: number
      /** Of what is sent with it. */
      readonly requestBytes: number
      readonly toolResults: ReadonlyMap<string, string>
    }
  | { readonly type: 'open'; readonly after: 'nothing' | 'parking' | 'loss' }
  /** Keeps the sandbox as it is, for later. */
  | { readonly type: 'park' }
  /** `step` is null when recorded steps are only repeated. */
  | { readonly type: 'advance'; readonly step: { readonly number: number; readonly input: StepInput } | null }
  | { readonly type: 'close' }
  | { readonly type: 'tool'; readonly call: ToolInput }
  | { readonly type: 'other' }

/** What came of it. */
export type Answer =
  | { readonly type: 'plan'; readonly plan: PlanFacts }
  | {
      readonly type: 'model'
      readonly answer: ModelAnswer
      readonly codeUses: readonly CodeUse[]
      /** Direct calls, by tool_use id. */
      readonly calls: ReadonlyMap<string, DescribedCall>
      /** Of all that the model was sent; undefined in older histories, where it is sent with the request. */
      readonly conversationBytes: number | undefined
    }
  | { readonly type: 'open'; readonly backend: string; readonly description: string }
  | { readonly type: 'advance'; readonly answer: AdvanceResult }
  | { readonly type: 'park'; readonly isKept: boolean }
  /** `preview` is undefined for a result that is kept elsewhere. */
  | { readonly type: 'tool'; readonly preview?: string; readonly bytes: number; readonly ref?: ValueRef }
  | { readonly type: 'other' }

export interface PlanFacts {
  readonly model: string
  readonly backend: string
  /** Tools that must not happen twice. */
  readonly onceTools: ReadonlySet<string>
}

const other = { type: 'other' } as const

export function readWork(activity: string, input: unknown): Work {
  switch (activity) {
    case activityNames.planRun:
      return { type: 'plan' }
    case activityNames.modelTurn: {
      const { data } = shapes.modelInput.safeParse(input)
      if (!data) return other
      const said = 'said' in data ? data.said : (data.messages.at(-1)?.content ?? [])
      const sent = 'said' in data ? said : data.messages.flatMap(({ content }) => content)
      return { type: 'model', turn: data.turn, requestBytes: totalBytes(sent), toolResults: toolResults(said) }
    }
    case activityNames.openSession: {
      const { data } = shapes.openInput.safeParse(input)
      if (!data) return other
      return { type: 'open', after: data.after ?? (data.session.epoch > 1 ? 'loss' : 'nothing') }
    }
    case activityNames.advanceSession: {
      const { data } = shapes.advanceInput.safeParse(input)
      return data ? { type: 'advance', step: data.step } : other
    }
    case activityNames.parkSession:
      return { type: 'park' }
    case activityNames.closeSession:
      return { type: 'close' }
    default: {
      const { data } = shapes.toolInput.safeParse(input)
      return data ? { type: 'tool', call: data } : other
    }
  }
}

/** @param previewCharacters of a tool result; what is cut off is not kept */
export function readAnswer(work: Work, value: unknown, previewCharacters: number): Answer {
  switch (work.type) {
    case 'plan': {
      const { data } = shapes.plan.safeParse(value)
      if (!data) return other
      return { type: 'plan', plan: { model: data.model.name, backend: data.backend, onceTools: onceTools(data) } }
    }
    case 'model': {
      const { data } = shapes.modelResult.safeParse(value)
      if (!data) return other
      const { content, ...reply } = data.reply
      const served = isServed(reply.stopReason)
      return {
        type: 'model',
        answer: { ...reply, text: textOfBlocks(content), replyBytes: totalBytes(content) },
        codeUses: served ? codeUses(content) : [],
        calls: new Map(served ? Object.entries(data.calls) : []),
        conversationBytes: data.conversationBytes,
      }
    }
    case 'open': {
      const { data } = shapes.openResult.safeParse(value)
      return data ? { type: 'open', backend: data.session.backend, description: data.description } : other
    }
    case 'advance': {
      const { data } = shapes.advanceResult.safeParse(value)
      return data ? { type: 'advance', answer: data } : other
    }
    case 'tool': {
      const ref = refIn(value)
      if (ref !== undefined) return { type: 'tool', bytes: ref.bytes, ref }
      const json = JSON.stringify(value) ?? 'null'
      return { type: 'tool', preview: json.slice(0, previewCharacters), bytes: bytesOf(json) }
    }
    case 'park':
      return { type: 'park', isKept: value === true }
    case 'close':
    case 'other':
      return other
  }
}

/** Tools that must not happen twice. */
export function onceTools({ tools }: Pick<shapes.RunState['plan'], 'tools'>): ReadonlySet<string> {
  return new Set(tools.filter(({ effect }) => effect === 'once').map(({ name }) => name))
}
