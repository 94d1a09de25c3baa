import type { Externalizable } from '../json/external-value.js'
import type { Message, ModelReply } from '../agent/messages.js'
import type { Requester } from '../run/requester.js'
import type { ModelConfig } from '../run/run-config.js'
import type { CallPosition } from './calls.js'

/** What a service asks the model, checked and bounded by its tool. It is not trusted. */
export interface SamplingRequest {
  /** Texts and images, with their data. */
  readonly messages: readonly Message[]
  readonly system?: string
  /** The reply has fewer tokens if a limit of the run or of its model is lower. */
  readonly maxTokens: number
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
}

/** The reply of the model, for the service. */
export interface SampledReply {
  readonly text: string
  readonly model: string
  readonly stopReason: string
}

/**
 * Gets a reply of the model of the run.
 *
 * @throws Error whose message is for the service; the reason of the signal
 */
export type Sample = (request: SamplingRequest, signal: AbortSignal) => Promise<SampledReply>

/** Argument of update `ptc.sample`, by which the activity of a call asks the workflow for a reply. */
export interface SampleUpdateInput {
  /** Of the call. */
  readonly idempotencyKey: string
  /** Names the request in its call: the same in each attempt that makes the same requests. */
  readonly id: string
  readonly request: Externalizable
  /** Of the request. */
  readonly maxTokens: number
  /** Estimated tokens of the prompt. */
  readonly promptTokens: number
}

/** Result of update `ptc.sample`. */
export interface SampleUpdateResult extends Omit<SampledReply, 'text'> {
  readonly text: Externalizable<string>
}

/** Argument of activity `model.sample`. */
export interface SampleActivityInput {
  readonly tool: string
  readonly position: CallPosition
  readonly from: string
  readonly request: Externalizable
  /** `maxTokens` is that of the reply. */
  readonly model: ModelConfig
  /** Absent: the context of the run has no requester. */
  readonly requester?: Requester
}

/** Result of activity `model.sample`. */
export interface SampleActivityResult extends Omit<ModelReply, 'content'> {
  readonly text: Externalizable<string>
}
