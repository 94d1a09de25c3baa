import type { Externalizable } from '../json/external-value.js'
import type { JsonObject, JsonValue } from '../json/json.js'
import type { EnvironmentConfig } from '../run/environment.js'
import type { Limits } from '../run/limits.js'
import type { HostedTurn } from './hosted-code.js'
import type { ModelReply, PendingBlock } from './messages.js'
import type { ModelConfig, ToolSet, ToolSetId } from '../run/run-config.js'
import type { SandboxContents } from '../run/sandbox-image.js'
import type { HeldSession } from '../session/held-sessions.js'
import type { Requester } from '../run/requester.js'
import type { DescribedCall } from '../session/steps.js'
import type { SkillsOfTurn } from './skills.js'
import type { PlanStep, RecordedMode } from './task-modes.js'
import type { ValueLog } from '../json/value-log.js'

/**
 * The part of the reply that the model is writing: `code` is input of the code tool, `tool` input of any other tool.
 */
export type ModelPhase = 'waiting' | 'thinking' | 'text' | 'code' | 'tool'

/** The session that a run shares with others: a named session, or that of the agent that started it. */
export type SharedSessionOwner = { readonly type: 'named'; readonly name: string } | { readonly type: 'parent' }

/** A further sandbox of a run, as its model knows it. */
export type DescribedSession = Pick<HeldSession, 'name' | 'language' | 'networkDescription' | 'contents'>

/** The limits in the prompt of the model, and the limits of its tool uses. Every turn has them in the history. */
export type TurnLimits = Pick<Limits, 'cellSeconds' | 'outputCharacters' | 'callsPerCell' | 'argumentBytes'>

/** Argument of activity `model.turn`. */
export interface ModelTurnInput {
  readonly turn: number
  readonly model: ModelConfig
  readonly limits: TurnLimits
  readonly tools: ToolSetId & Pick<ToolSet, 'documentation'>
  /** Has the meaning of the same member of `RunConfig`. */
  readonly language: string
  /** Has the meaning of the same member of `RunConfig`. */
  readonly environment?: EnvironmentConfig
  readonly instructions?: Externalizable<string>
  readonly outputSchema?: Externalizable<JsonObject>
  readonly isPlain?: true
  readonly mode?: RecordedMode
  readonly doneCheck?: string
  /** Id of the plan step of the turn. */
  readonly planStep?: string
  /** Describes the data of the run for its code; absent without data. */
  readonly inputDescription?: string
  /** True for a run with uploads and artifacts. */
  readonly hasFiles?: true
  /** Has the meaning of the same member of `RunConfig`. */
  readonly contents?: Externalizable<SandboxContents>
  /** Describes the hosts that its code may reach; absent: none. */
  readonly networkDescription?: string
  /** The shared session in which the code runs. Absent: the run has its own sandbox. */
  readonly sharedSession?: SharedSessionOwner
  /** The further sandboxes of the run. Absent: none. */
  readonly heldSessions?: readonly DescribedSession[]
  /** True when the messages may be compacted; absent: never. */
  readonly isCompacted?: true
  /** True when the model searches the documentation of tools; absent: the prompt has all of it. */
  readonly toolSearch?: true
  /** A provider that can search tools loads direct tools when the model has found them; absent: all are documented. */
  readonly providerSearch?: true
  /** Share of the window from which the provider clears old results by itself; absent: never. */
  readonly providerClearsAt?: number
  /** The messages of earlier turns; null in the first turn. */
  readonly history: ValueLog | null
  /** Number of turns that became part of the conversation before this one. */
  readonly committedTurns: number
  /** Blocks of the next user message; empty to continue a truncated reply. */
  readonly pending: readonly PendingBlock[]
  /** Id of the message of the conversation in progress. */
  readonly message?: string
  /** A rule on data may keep the text of the model back: it is not published while it arrives. Absent: it is. */
  readonly isHeld?: true
  /** Absent: the API executes no code. */
  readonly hosted?: HostedTurn
  /** Absent: the run has no skills. */
  readonly skills?: SkillsOfTurn
  /** Absent: the context of the run has no requester. */
  readonly requester?: Requester
}

/** Result of activity `model.turn`. */
export interface ModelTurnResult {
  /** The reply with external inputs. Blocks that only the model reads are reduced to their type. */
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
  /** The submission in the reply by one of the task tools, if there is one. */
  readonly answer?: SubmittedAnswer
  /** The tool that the text of the reply calls: the whole text is such a call, which no API has parsed. */
  readonly textCall?: string
}

/** Argument of activity `model.compact`. */
export interface CompactionInput {
  /** Number of the next turn. */
  readonly turn: number
  /** Id of the message of the conversation in progress. */
  readonly message?: string
  readonly model: ModelConfig
  readonly history: ValueLog
  /** Estimated tokens of the next request without a compaction. */
  readonly tokens: number
  /** The request should have fewer tokens. If short results are not enough, early messages are summarised. */
  readonly targetTokens: number
  /** Tokens of the latest messages that a summary does not replace. */
  readonly keptTokens: number
  /** Data for the counter of the provider; absent: tokens are estimated. */
  readonly counted?: {
    /** The request of the next turn. */
    readonly next: Omit<ModelTurnInput, 'model' | 'history'>
    /** The messages stay unchanged when the request has at most this number of tokens. */
    readonly dueTokens: number
  }
}

/** Result of activity `model.compact`. */
export interface CompactionResult {
  /** The compacted messages; the previous ones when nothing could be shortened. */
  readonly history: ValueLog
  /** Estimated tokens of the next request. */
  readonly tokens: number
  /** Number of shortened results of tools. */
  readonly shortened: number
  /** Number of messages that a summary replaced. */
  readonly summarized: number
  /** Usage of the request for a summary, even if the summary was unusable; absent when the model was not asked. */
  readonly summary?: Omit<ModelReply, 'content'>
  /** Why the early messages could not be summarised. */
  readonly problem?: string
}

/** Argument of activity `result.page`. */
export interface ReadMoreInput {
  readonly history: ValueLog
  /** The unchecked input from the model. */
  readonly input: Externalizable<JsonObject>
  /** Maximum characters of a page. */
  readonly limit: number
}

/** Argument of activity `tool.search`. */
export interface SearchToolsInput {
  readonly tools: ModelTurnInput['tools']
  /** The unchecked input from the model. */
  readonly input: Externalizable<JsonObject>
}

/** The result of a tool of the engine, for the model. */
export interface EngineToolResult {
  readonly text: Externalizable<string>
  /** A note after the text. */
  readonly note: string
  readonly isError: boolean
}

/** The submission of the model: an answer or a plan, checked by the worker, or the reason why the model gives up. */
export type SubmittedAnswer =
  /** The answer matches the output schema; without a schema, it is a text. */
  | { readonly type: 'valid'; readonly output: JsonValue }
  | { readonly type: 'plan'; readonly steps: readonly PlanStep[] }
  | { readonly type: 'gave_up'; readonly reason: string }
  /** The submission is invalid. `problem` is for the model, which may submit again. */
  | { readonly type: 'invalid'; readonly problem: string }
