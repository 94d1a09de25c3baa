/*
 * Models: prompt, request and reply of one turn.
 *
 * Boundary: knows no Temporal and no sandbox, and of tools only their documentation. A folder per wire format
 * implements `ModelProvider`; `http/` has what they share. A conversation has the shape of Anthropic's Messages API,
 * and providers of other formats translate it.
 *
 * Invariants:
 * 1. A call is exactly one attempt. Temporal retries. (A request that a server refuses for its form is no attempt.)
 * 2. A reply is whole or an error.
 * 3. An error is the signal's reason, or a PtcError with a `MODEL_*` code (`INTERNAL` for a defect). Its message
 *    contains no
 *    secret.
 * 4. Content blocks that only a provider knows are returned, and sent back to it, unchanged. Another provider of the
 *    same conversation leaves them out.
 */

import type { Caller } from '../common/calls/calls.js'
import type { JsonObject } from '../common/json/json.js'
import type { CodeContainer, Message, ModelReply } from '../common/runs/messages.js'
import type { ModelPhase } from '../common/runs/model-turn.js'
import type { ModelSettings, ReplyOptions } from '../common/runs/model-settings.js'

export type { ModelPhase } from '../common/runs/model-turn.js'

/** A tool in a request to the model. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject
  /** Valid inputs, shown to the model. */
  readonly inputExamples: readonly JsonObject[]
  /** Only with hosted code. Absent: the model only. */
  readonly allowedCallers?: readonly Caller[]
  /** The model finds the tool by the search of its provider. A provider without one sends the tool as any other. */
  readonly loadedBySearch?: true
}

/** Everything for one turn: a provider keeps no conversation. */
export interface ModelRequest extends ModelSettings, ReplyOptions {
  /** The provider's own model id. */
  readonly model: string
  /** Maximum output tokens of the reply, thinking included. */
  readonly maxTokens: number
  /** Empty: no system prompt. */
  readonly system: string
  readonly tools: readonly ModelTool[]
  /** Tools that the server executes itself: sent as they are. What they add to a reply is kept. Undefined: none. */
  readonly serverTools?: readonly JsonObject[] | undefined
  readonly messages: readonly Message[]
  /** The API executes code in this container, or in a new one. Absent: it executes none. */
  readonly hostedCode?: { readonly container?: CodeContainer | undefined }
  /** The provider clears old results by itself. Absent, and of providers that can't do that: never. */
  readonly contextManagement?: {
    /** Input tokens from which it does. Undefined: the default of the provider. */
    readonly triggerTokens?: number | undefined
  }
}

export interface ModelProgress {
  readonly phase: ModelPhase
  /** Characters the model has written so far in this turn. */
  readonly outputCharacters: number
}

/** A piece of what the model writes: of a text, or of the code in the input of the code tool. */
export interface ModelDelta {
  readonly type: 'text' | 'code'
  /** Tells the blocks of a reply apart, in their order. */
  readonly block: number
  readonly text: string
}

export interface TurnOptions {
  readonly signal: AbortSignal
  /** Called for every chunk of the reply. Must be cheap, and must not throw. */
  readonly onProgress: (progress: ModelProgress) => void
  /**
   * Called for every piece of text and code. As cheap as `onProgress`. A provider that does not stream never calls it.
   */
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined
}

/** The models of one vendor, or of one server. */
export interface ModelProvider {
  /** The API executes code whose calls are tool uses with a `caller`: `sandbox: anthropic`. */
  readonly hostsCode?: true
  /** The API has a context management of its own: `compaction: { provider: true }`. */
  readonly managesContext?: true
  /** Prepares for the first call. Default: nothing is prepared. */
  load?(): Promise<void>
  /**
   * Requests one reply.
   *
   * @throws PtcError with a `MODEL_*` code; the signal's reason when the signal was aborted
   */
  turn(request: ModelRequest, options: TurnOptions): Promise<ModelReply>
  /**
   * Counts the input tokens of a request. Default, and undefined: they are estimated. So they are after an error.
   *
   * @throws as `turn`
   */
  countTokens?(request: ModelRequest, options: Pick<TurnOptions, 'signal'>): Promise<number | undefined>
  /** Aborts running calls with a retryable error. Idempotent. */
  close(): Promise<void>
}
