import type { z } from 'zod'
import type { CallPosition } from '../../../common/calls/calls.js'
import type { LostFile, StoredFile } from '../../../common/files/files.js'
import { defined } from '../../../common/defined.js'
import { activityNames, compensationActivity, parseCallActivityId } from '../../../common/names.js'
import type { ValueRef } from '../../../common/json/external-value.js'
import {
  type CodeToolUse,
  codeToolUses,
  executesToolUses,
  joinTextBlocks,
  toolResults,
  totalByteLength,
} from './content-blocks.js'
import { type HostedCode, hostedCodeOf } from './hosted-code.js'
import { byteLengthOf, parseRef } from '../values/external-values.js'
import type {
  ApprovalInput,
  CompactionOutcome,
  SampledUsage,
  CellReply,
  QuestionInput,
  SharedCell,
  StepResult,
  DescribedCall,
  StepInput,
  ToolInput,
} from './payload-schemas.js'
import * as shapes from './payload-schemas.js'
import type { ModelReplySummary } from '../tree.js'
import { takeStart } from '../../../common/text/text.js'

/** The position of the follow-up steps of an activity. */
interface FollowUpContext {
  /** Milliseconds from the start of the session to the scheduling of the activity. */
  readonly now: number
  readonly turn: number
  readonly cell: number
}

/** What became of the artifacts of a cell. */
interface StoredArtifacts {
  readonly files: readonly StoredFile[]
  readonly lost: readonly LostFile[]
}

/** A decision on a call, or the completion of a deferred call without the result. */
export interface DecisionInput {
  readonly idempotencyKey: string
  readonly by: string | undefined
  readonly at: number
  readonly result:
    | { readonly type: 'value'; readonly replacesArguments: boolean; readonly remembers: boolean }
    | { readonly type: 'failure'; readonly message: string }
}

/** The input of an activity, reduced to the parts for the tree. Large values are dropped. */
export type ActivityInput =
  | { readonly type: 'config' }
  | {
      readonly type: 'model'
      readonly turn: number
      readonly planStep?: string
      readonly message?: string
      /** UTF-8 bytes of the new content blocks. */
      readonly requestBytes: number
      readonly toolResults: ReadonlyMap<string, string>
      /** Ids of server tool uses with code that was lost before the turn. */
      readonly lostCode: readonly string[]
    }
  /** Compacts the messages before a turn. */
  | { readonly type: 'compaction'; readonly turn: number; readonly tokens: number }
  /** The service of a tool asks the model. */
  | { readonly type: 'sampling' }
  | {
      readonly type: 'open'
      readonly reason: 'new' | 'unpark' | 'rebuild'
      /** Executed by the same activity, if the result has its result. */
      readonly firstStep?: { readonly number: number; readonly input: StepInput } | undefined
    }
  /** Checkpoints the sandbox while the run waits. */
  | { readonly type: 'park' }
  /** `step` is null when the activity only replays recorded steps. */
  | {
      readonly type: 'step'
      readonly step: { readonly number: number; readonly input: StepInput } | null
      readonly followUps?: FollowUpContext | undefined
    }
  /** Stores artifacts of the cell that has ended. */
  | { readonly type: 'files' }
  /** Not an activity: the update by which a client uploaded files. */
  | { readonly type: 'upload'; readonly files: readonly StoredFile[] }
  | { readonly type: 'close' }
  | { readonly type: 'tool'; readonly call: ToolInput; readonly followUps?: FollowUpContext | undefined }
  /** Requests the approval of a call. */
  | { readonly type: 'approval'; readonly request: ApprovalInput }
  /** Tells people of a question of a call. */
  | { readonly type: 'question'; readonly asked: QuestionInput }
  /** Undoes the effect of a call. */
  | { readonly type: 'compensation'; readonly position: CallPosition }
  /** Not an activity: the update that decided on a call, or completed it. */
  | ({ readonly type: 'decision' } & DecisionInput)
  /** Checks the result of a call that came from outside. */
  | { readonly type: 'check'; readonly position: CallPosition }
  /** Not an activity: the session of another workflow, the owner, gets a cell. */
  | ({ readonly type: 'shared_cell'; readonly owner: string } & Omit<SharedCell, 'type'>)
  /** Not an activity: such a cell has ended. */
  | ({ readonly type: 'cell_reply' } & CellReply)
  | { readonly type: 'other' }

/** The result of an activity, reduced like the input. */
export type ActivityResult =
  | { readonly type: 'config'; readonly config: shapes.RunConfig }
  | {
      readonly type: 'model'
      readonly reply: ModelReplySummary
      readonly codeToolUses: readonly CodeToolUse[]
      /** Set only when Anthropic executes the code of the run. */
      readonly hosted: HostedCode | undefined
      /** Direct calls and calls of hosted code, by tool_use id. */
      readonly calls: ReadonlyMap<string, DescribedCall>
      /** UTF-8 bytes of the conversation that the model got. */
      readonly conversationBytes: number
    }
  | ({ readonly type: 'compaction' } & CompactionOutcome)
  | ({ readonly type: 'sampling' } & SampledUsage)
  | {
      readonly type: 'open'
      readonly backend: string
      readonly description: string
      readonly firstStep?: StepResult
    }
  | { readonly type: 'step'; readonly result: StepResult }
  | { readonly type: 'park'; readonly isCheckpointed: boolean }
  | ({ readonly type: 'files' } & StoredArtifacts)
  | { readonly type: 'approval'; readonly isNeeded: boolean }
  /** `preview` is undefined for an external result. */
  | {
      readonly type: 'tool'
      readonly preview?: string
      readonly bytes: number
      readonly ref?: ValueRef
      /** The file that the tool has returned. Absent: the tool returns none. */
      readonly file?: StoredFile
    }
  | { readonly type: 'other' }

const other = { type: 'other' } as const

/** Converts a payload. One that does not match is left out of the tree. */
function parse<Data, Converted>(
  schema: z.ZodType<Data>,
  payload: unknown,
  convert: (data: Data) => Converted,
): Converted | typeof other {
  const { data } = schema.safeParse(payload)
  return data === undefined ? other : convert(data)
}

export function parseActivityInput(activity: string, input: unknown, activityId: string): ActivityInput {
  switch (activity) {
    case activityNames.loadRunConfig:
      return { type: 'config' }
    case activityNames.modelTurn:
      return parse(shapes.modelInput, input, ({ pending, hosted, ...turn }) => ({
        type: 'model',
        ...turn,
        requestBytes: totalByteLength(pending),
        toolResults: toolResults(pending),
        lostCode: hosted?.lost?.uses.map(({ id }) => id) ?? [],
      }))
    case activityNames.compactMessages:
      return parse(shapes.compactionInput, input, (data) => ({ type: 'compaction', ...data }))
    case activityNames.sample:
      return { type: 'sampling' }
    case activityNames.openSession:
      return parse(shapes.openInput, input, ({ reason, firstStep }) => {
        return { type: 'open', reason, firstStep: firstStep?.step }
      })
    case activityNames.executeStep:
      return parse(shapes.executeStepInput, input, ({ step, localCalls }) => {
        const followUps = step?.now !== undefined && localCalls ? { now: step.now, ...localCalls } : undefined
        return { type: 'step', step, followUps }
      })
    case activityNames.parkSession:
      return { type: 'park' }
    case activityNames.storeFiles:
      return { type: 'files' }
    case activityNames.closeSession:
      return { type: 'close' }
    case activityNames.clientCall:
      return parse(shapes.toolInput, input, (call) => ({ type: 'tool', call }))
    case activityNames.requestApproval:
      return parse(shapes.approvalInput, input, (request) => ({ type: 'approval', request }))
    case activityNames.announceQuestion:
      return parse(shapes.questionInput, input, (asked) => ({ type: 'question', asked }))
    case activityNames.checkAnswer:
      return other
    case activityNames.checkToolResult:
      return parse(shapes.resultCheckInput, input, ({ position }) => ({ type: 'check', position }))
    default: {
      const { data: compensated } = shapes.compensateInput.safeParse(input)
      if (compensated && activity === compensationActivity(compensated.tool))
        return { type: 'compensation', position: compensated.position }
      const { data } = shapes.toolInput.safeParse(input)
      if (data?.tool !== activity) return remoteCall(activity, input, parseCallActivityId(activityId))
      const { followUp, position } = data
      const followUps = followUp && { now: followUp.now, ...position }
      return { type: 'tool', call: data, followUps }
    }
  }
}

/** Returns the input of a call of a remote tool, from the bare arguments. */
export function remoteCall(tool: string, args: unknown, position: CallPosition | undefined): ActivityInput {
  if (position === undefined) return other
  const caller = position.cell === 0 ? 'direct' : 'code_execution'
  return parse(shapes.remoteArguments, args, (data) => ({
    type: 'tool',
    call: { tool, caller, position, arguments: data },
  }))
}

/** @param previewCharacters maximum length of the preview of a tool result */
export function parseActivityResult(
  activityInput: ActivityInput,
  value: unknown,
  previewCharacters: number,
): ActivityResult {
  switch (activityInput.type) {
    case 'config':
      return parse(shapes.runConfig, value, (config) => ({ type: 'config', config }))
    case 'model':
      return parse(shapes.modelResult, value, ({ reply: { content, ...reply }, calls, conversationBytes }) => {
        const isExecuted = executesToolUses(reply.stopReason)
        return {
          type: 'model',
          reply: { ...reply, text: joinTextBlocks(content), replyBytes: totalByteLength(content) },
          codeToolUses: isExecuted ? codeToolUses(content) : [],
          hosted: isExecuted || reply.stopReason === 'pause_turn' ? hostedCodeOf(content) : undefined,
          calls: new Map(isExecuted ? Object.entries(calls) : []),
          conversationBytes,
        }
      })
    case 'compaction':
      return parse(shapes.compactionResult, value, (data) => ({ type: 'compaction', ...data }))
    case 'sampling':
      return parse(shapes.sampleResult, value, (data) => ({ type: 'sampling', ...data }))
    case 'open':
      return parse(shapes.openResult, value, ({ session: { backend }, description, firstStep }) => ({
        type: 'open',
        backend,
        description,
        ...defined({ firstStep }),
      }))
    case 'step':
      return parse(shapes.stepResult, value, (result) => ({ type: 'step', result }))
    case 'tool':
      return isFollowed(activityInput)
        ? parse(shapes.resultOfFollowedCall, value, (followed) => ({
            ...toolResult(followed.value, previewCharacters),
            ...defined({ file: followed.file }),
          }))
        : toolResult(value, previewCharacters)
    case 'check':
      return toolResult(value, previewCharacters)
    case 'approval':
      return parse(shapes.approvalResult, value, (data) => ({ type: 'approval', ...data }))
    case 'park':
      return { type: 'park', isCheckpointed: value === true }
    case 'files':
      return parse(shapes.storeFilesResult, value, (stored) =>
        stored.type === 'gone' ? other : { ...stored, type: 'files' },
      )
    case 'upload':
    case 'compensation':
    case 'question':
    case 'close':
    case 'decision':
    case 'shared_cell':
    case 'cell_reply':
    case 'other':
      return other
  }
}

/** Whether the result of the activity has more than the result of the call. */
function isFollowed({ followUps, call }: Extract<ActivityInput, { type: 'tool' }>): boolean {
  return followUps !== undefined || call.withLabels === true || call.returnsFile === true
}

function toolResult(value: unknown, previewCharacters: number): Extract<ActivityResult, { type: 'tool' }> {
  const ref = parseRef(value)
  if (ref !== undefined) return { type: 'tool', bytes: ref.bytes, ref }
  const json = JSON.stringify(value) ?? 'null'
  return { type: 'tool', preview: takeStart(json, previewCharacters), bytes: byteLengthOf(json) }
}
