import type { JsonObject } from '../common/json.js'
import type { Message, ModelReply } from '../common/messages.js'

/** A tool as the model gets to see it. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject
  /** Inputs that fit the schema, shown to the model. */
  readonly inputExamples: readonly JsonObject[]
}

/** Everything one turn needs: a provider keeps no conversation of its own. */
export interface ModelRequest {
  /** The provider's own model id. */
  readonly model: string
  /** Output tokens the reply may have, thinking included. */
  readonly maxTokens: number
  /** Empty: no system prompt. */
  readonly system: string
  readonly tools: readonly ModelTool[]
  readonly messages: readonly Message[]
}

/** What the model is writing: `code` is input of the code tool, `tool` input of any other. */
export type ModelPhase = 'waiting' | 'thinking' | 'text' | 'code' | 'tool'

export interface ModelProgress {
  readonly phase: ModelPhase
  /** Characters the model has written so far in this turn. */
  readonly outputCharacters: number
}

export interface TurnOptions {
  readonly signal: AbortSignal
  /** Called for every sign of life, so often; must be cheap and must not throw. */
  readonly onProgress: (progress: ModelProgress) => void
}

/** One vendor's models. Makes exactly one attempt: retrying is for whoever calls. */
export interface ModelProvider {
  readonly name: string
  /**
   * Asks the model for one whole reply; half a reply is never returned.
   *
   * @throws PtcError with a `MODEL_*` code; the signal's own reason when the signal was aborted
   */
  turn(request: ModelRequest, options: TurnOptions): Promise<ModelReply>
  /** Input tokens the request would have, counted by the vendor. Throws as {@link ModelProvider.turn} does. */
  countTokens(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<number>
  /** Ends calls that are under way with a retryable error. Idempotent. */
  close(): Promise<void>
}
