/** Parts of the AI SDK's UI message stream that this server sends. https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string }
  | { readonly type: 'start-step' }
  | { readonly type: 'finish-step' }
  | { readonly type: 'text-start' | 'text-end'; readonly id: string }
  | { readonly type: 'text-delta'; readonly id: string; readonly delta: string }
  | ({ readonly type: 'tool-input-start'; readonly toolName: string } & ToolFields)
  | { readonly type: 'tool-input-delta'; readonly toolCallId: string; readonly inputTextDelta: string }
  | ({ readonly type: 'tool-input-available'; readonly toolName: string; readonly input: unknown } & ToolFields)
  | ({ readonly type: 'tool-output-available'; readonly output: unknown; readonly preliminary?: true } & ToolFields)
  | ({ readonly type: 'tool-output-error'; readonly errorText: string } & ToolFields)
  /** A call waits for the approval of a person. `approvalId` comes back with the response of the front end. */
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  /** The parts since the last `step-start` of the message are void: an attempt failed and is repeated. */
  | { readonly type: 'data-reset'; readonly data: { readonly reason: 'retry' } }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason: string }
  | {
      readonly type: 'finish'
      readonly finishReason: FinishReason
      readonly messageMetadata: { readonly status: string }
    }

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'

/** `providerExecuted`: a front end must not run the tool. `dynamic`: the front end does not know the tool's types. */
interface ToolFields {
  readonly toolCallId: string
  readonly dynamic: true
  readonly providerExecuted: true
}

export const toolFlags = { dynamic: true, providerExecuted: true } as const
