/*
 * Models: prompt, request and reply of one turn.
 *
 * Boundary: knows no Temporal and no sandbox, and only the documentation of tools. `anthropic/` (the Messages API, also
 * on Bedrock) and `ai-sdk/` (every other vendor) implement `ModelProvider`; `http/` has their shared code. A
 * conversation has the shape of the Messages API, and `ai-sdk/` translates it. `request/` makes a request that each API
 * accepts, `reply/` a reply that the engine can rely on; `prompt/` is what the model reads, `facts/` prices and
 * windows.
 *
 * Invariants:
 * 1. A call is exactly one attempt. Temporal retries. (A request that a server refuses for its form is not an attempt.)
 * 2. A reply is complete or an error.
 * 3. An error is the signal's reason, or a PtcError with a `MODEL_*` code (`INTERNAL` for a defect). Its message
 *    contains no secret.
 * 4. Content blocks that only one provider knows are returned, and sent back to it, unchanged. Another provider of the
 *    same conversation leaves them out.
 */

import type { NativeToolType } from '../common/agent/native-tools.js'
import type { Caller } from '../common/calls/calls.js'
import type { JsonObject } from '../common/json/json.js'
import type { CodeContainer, Message, ModelReply } from '../common/agent/messages.js'
import type { ModelPhase } from '../common/agent/model-turn.js'
import type { ModelSettings, ReplyOptions } from '../common/agent/model-settings.js'

export type { ModelPhase } from '../common/agent/model-turn.js'

/** A tool in a request to the model. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject
  /** Valid inputs, shown to the model. */
  readonly inputExamples: readonly JsonObject[]
  /** Only with hosted code. Absent: only the model. */
  readonly allowedCallers?: readonly Caller[]
  /** The type by which the Messages API knows the tool. Other APIs get its description and its schema. */
  readonly nativeType?: NativeToolType
  /** The provider's search loads the tool. A provider without a search sends the tool like any other. */
  readonly loadedBySearch?: true
}

/** All data for one turn: a provider keeps no conversation. */
export interface ModelRequest extends ModelSettings, ReplyOptions {
  /** The model id in the provider's API. */
  readonly model: string
  /** Maximum output tokens of the reply, including thinking. */
  readonly maxTokens: number
  /** Empty: no system prompt. */
  readonly system: string
  readonly tools: readonly ModelTool[]
  /**
   * Tools that the server executes itself. They are sent unchanged, and their blocks in a reply are kept. Undefined:
   * none.
   */
  readonly serverTools?: readonly JsonObject[] | undefined
  readonly messages: readonly Message[]
  /** The API executes code in this container, or in a new one. Absent: it executes no code. */
  readonly hostedCode?: { readonly container?: CodeContainer | undefined }
  /** The provider clears old results by itself. Absent, and for providers without this feature: never. */
  readonly contextManagement?: {
    /** Input tokens from which results are cleared. Undefined: the default of the provider. */
    readonly triggerTokens?: number | undefined
  }
}

export interface ModelProgress {
  readonly phase: ModelPhase
  /** Characters that the model has written so far in this turn. */
  readonly outputCharacters: number
}

/** A piece of a text, or of the code in the input of the code tool, while the model writes it. */
export interface ModelDelta {
  readonly type: 'text' | 'code'
  /** Position of the block in the reply. */
  readonly block: number
  readonly text: string
}

export interface TurnOptions {
  readonly signal: AbortSignal
  /** Called for every chunk of the reply. Must be cheap, and must not throw. */
  readonly onProgress: (progress: ModelProgress) => void
  /**
   * Called for every piece of text and code. Must be cheap, and must not throw. A provider that does not stream never
   * calls it.
   */
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined
}

/** The models of one vendor, or of one server. */
export interface ModelProvider {
  /** The API executes code whose calls are tool uses with a `caller`: `sandbox: anthropic`. */
  readonly hostsCode?: true
  /** The API has its own context management: `compaction: { provider: true }`. */
  readonly managesContext?: true
  /** Prepares for the first call. Default: no preparation. */
  load?(): Promise<void>
  /**
   * Requests one reply.
   *
   * @throws PtcError with a `MODEL_*` code; the signal's reason when the signal was aborted
   */
  turn(request: ModelRequest, options: TurnOptions): Promise<ModelReply>
  /**
   * Counts the input tokens of a request. Without this method, when it returns undefined, and after an error, the
   * tokens are estimated.
   *
   * @throws the errors of `turn`
   */
  countTokens?(request: ModelRequest, options: Pick<TurnOptions, 'signal'>): Promise<number | undefined>
  /** Aborts running calls with a retryable error. Idempotent. */
  close(): Promise<void>
}
