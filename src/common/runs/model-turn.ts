import type { Externalizable } from '../json/external-value.js'
import type { JsonObject, JsonValue } from '../json/json.js'
import type { Limits } from './limits.js'
import type { HostedTurn } from './hosted-code.js'
import type { ModelReply, PendingBlock } from './messages.js'
import type { ModelConfig, ToolSet, ToolSetId } from './run-config.js'
import type { Requester } from './requester.js'
import type { DescribedCall } from '../session/steps.js'
import type { PlanStep, RecordedMode } from './task-modes.js'
import type { ValueLog } from '../json/value-log.js'

/** What the model is writing: `code` is input of the code tool, `tool` input of any other. */
export type ModelPhase = 'waiting' | 'thinking' | 'text' | 'code' | 'tool'

/** The session that a run shares with others: a named session, or that of the agent that started it. */
export type SharedSession = { readonly type: 'named'; readonly name: string } | { readonly type: 'parent' }

/** The limits that the model reads of, and those of its tool uses. Every turn has them in the history. */
export type TurnLimits = Pick<
  Limits,
  'cellSeconds' | 'outputCharacters' | 'callsPerCell' | 'planSteps' | 'argumentBytes'
>

/** Argument of activity `model.turn`. */
export interface ModelTurnInput {
  readonly turn: number
  readonly model: ModelConfig
  readonly limits: TurnLimits
  readonly tools: ToolSetId & Pick<ToolSet, 'documentation'>
  /** As in `RunConfig`. */
  readonly instructions?: Externalizable<string>
  readonly outputSchema?: Externalizable<JsonObject>
  readonly isPlain?: true
  readonly mode?: RecordedMode
  readonly doneCheck?: string
  /** Id of the plan step that the turn works on. */
  readonly planStep?: string
  /** Describes the data of the run that code has; absent without any. */
  readonly inputDescription?: string
  /** Whose variables code sees, too; absent: the sandbox is that of the run. */
  readonly sharedSession?: SharedSession
  /** The messages may be compacted; absent: never. */
  readonly isCompacted?: true
  /** As in `RunConfig`. */
  readonly readMore?: true
  /** The model searches the documentation of tools; absent: it has all of it. */
  readonly toolSearch?: true
  /** A provider that can search tools loads direct tools when the model has found them; absent: all are documented. */
  readonly providerSearch?: true
  /** Share of the window from which the provider clears old results by itself; absent: never. */
  readonly providerClearsAt?: number
  /** The messages of earlier turns; null in the first turn. */
  readonly history: ValueLog | null
  /** How many turns became part of the conversation before this one; absent in histories of earlier versions. */
  readonly committedTurns?: number
  /** Blocks of the next user message; empty to continue a truncated reply. */
  readonly pending: readonly PendingBlock[]
  /** Id of the message of the conversation that the turn is for. */
  readonly message?: string
  /** Absent: the API executes no code. */
  readonly hosted?: HostedTurn
  /** Absent: the context of the run names nobody. */
  readonly requester?: Requester
}

/** Result of activity `model.turn`. */
export interface ModelTurnResult {
  /** With external inputs. Blocks that only the model reads are reduced to their type. */
  readonly reply: ModelReply
  /** The conversation including this turn. The workflow adopts it when it accepts the reply. */
  readonly history: ValueLog
  /** Bytes of the messages sent to the model, without system prompt, tools, and data of images and documents. */
  readonly conversationBytes: number
  /**
   * The described direct tool calls, by tool_use id. Calls of `execute_code` are not included. The id of an answer has
   * the call of the tool that checks whether the work is done.
   */
  readonly calls: Readonly<Record<string, DescribedCall>>
  /** What the reply submits with one of the task tools, if it does. */
  readonly answer?: SubmittedAnswer
  /** The tool that the text of the reply calls: the whole text is such a call, which no API has parsed. */
  readonly textCall?: string
}

/** Argument of activity `model.compact`. */
export interface CompactionInput {
  /** The turn that follows. */
  readonly turn: number
  /** Id of the message of a conversation that the turn is for. */
  readonly message?: string
  readonly model: ModelConfig
  readonly history: ValueLog
  /** Estimated tokens of the next request as it would be. */
  readonly tokens: number
  /** The request should have fewer tokens. If short results are not enough, early messages are summarised. */
  readonly targetTokens: number
  /** Tokens of the latest messages that a summary leaves as they are. */
  readonly keptTokens: number
  /** As in `RunConfig`. */
  readonly readMore?: true
  /** For the counter of the provider; absent: tokens are estimated. */
  readonly counted?: {
    /** The request of the turn that follows. */
    readonly next: Omit<ModelTurnInput, 'model' | 'history'>
    /** The messages stay as they are when the request has at most so many tokens. */
    readonly dueTokens: number
  }
}

/** Result of activity `model.compact`. */
export interface CompactionResult {
  /** The messages, compacted; as before when nothing could be shortened. */
  readonly history: ValueLog
  /** Estimated tokens of the next request. */
  readonly tokens: number
  /** Results of tools that were shortened. */
  readonly shortened: number
  /** Messages that were replaced by a summary. */
  readonly summarized: number
  /** What the summary has used, also if it was no use; absent when the model was not asked. */
  readonly summary?: Omit<ModelReply, 'content'>
  /** Why the early messages could not be summarised. */
  readonly problem?: string
}

/** Argument of activity `result.page`. */
export interface ReadMoreInput {
  readonly history: ValueLog
  /** What the model has written, unchecked. */
  readonly input: Externalizable<JsonObject>
  /** Characters of a page. */
  readonly limit: number
}

/** Argument of activity `tool.search`. */
export interface SearchToolsInput {
  readonly tools: ModelTurnInput['tools']
  /** What the model has written, unchecked. */
  readonly input: Externalizable<JsonObject>
}

/** The result of a tool of the engine, for the model. */
export interface EngineToolResult {
  readonly text: Externalizable<string>
  /** Follows the text. */
  readonly note: string
  readonly isError: boolean
}

/** What the model has submitted: an answer or a plan, checked by the worker, or why it gives up. */
export type SubmittedAnswer =
  /** Fits the output schema; without one, a text. */
  | { readonly type: 'valid'; readonly output: JsonValue }
  | { readonly type: 'plan'; readonly steps: readonly PlanStep[] }
  | { readonly type: 'gave_up'; readonly reason: string }
  /** For the model, which may submit another. */
  | { readonly type: 'invalid'; readonly problem: string }
