import { randomUUID } from 'node:crypto'
import { type Client, WithStartWorkflowOperation, type Workflow, WorkflowUpdateStage } from '@temporalio/client'
import type {
  AnswerResult,
  ConversationAnswer,
  ConversationHistory,
  ConversationInput,
  ConversationResult,
  ConversationStatus,
  InterruptConversationInput,
  ProviderMessage,
  ResetInput,
  SendInput,
} from '../../common/conversation/conversation.js'
import type { Attachment } from '../../common/conversation/attachments.js'
import type { FileUpload } from '../../common/files/files.js'
import { withAbortListener } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { conversationMessages, memoKeys, workflowNames } from '../../common/names.js'
import { type Redact, unredacted } from '../../common/text/redact.js'
import { jsonToText } from '../../common/text/text.js'
import { toSummary } from '../../common/run/run-texts.js'
import { loadMedia } from '../../values/media.js'
import { toUserBlock } from '../../values/text-parts.js'
import { readLog } from '../../values/value-log.js'
import type { ValueReader } from '../run-tree/index.js'
import { type RunFiles, runFiles } from '../files/run-files.js'
import { storeUploads } from '../files/store-uploads.js'
import { storeAttachments, storeMedia } from '../start/store-attachments.js'
import { checkKeys } from '../start/check-input.js'
import { checkInlineSize, requesterMemo } from '../start/start-options.js'
import { failWithoutWorker } from '../workers/worker-availability.js'
import {
  checkConversationOptions,
  checkMessage,
  type ConversationOptions,
  conversationWorkflowId,
  parseMessages,
} from './conversation-options.js'
import {
  conversationError,
  type ConversationRef,
  describeConversation,
  interruptWork,
  query,
  request,
  requireAccepted,
  requireOpen,
  type UpdateHandle,
  waitForAnswer,
} from './conversation-requests.js'

/*
 * `src/client/conversations` owns conversations: sending messages, waiting for answers, interrupting, closing, reading
 * and replacing the messages.
 *
 * Boundary: the conversation's workflow by its messages (updates, queries, signals). A client keeps no state: any
 * number of clients may use one conversation, and a client needs only its name.
 *
 * Invariants:
 * 1. A message has one id: the id of its update. The conversation works on an id once.
 * 2. Waiting for an answer goes over the continue-as-new chain, and survives a server that is unavailable for 60 s.
 */

interface SendOptions {
  /**
   * When true, and while the conversation works on another message, the model reads this message with its next turn,
   * and both get the same answer. Default: the message is queued.
   */
  readonly steer?: boolean
  /** Images and PDFs, which the client puts into the value store. */
  readonly attachments?: readonly Attachment[]
  /**
   * Files for the code, in `/tmp/in`, before it runs for this message. The first message of a conversation with files,
   * also with none of them (`[]`), gives the conversation files; or its agent or the configuration does.
   */
  readonly files?: readonly FileUpload[]
  /**
   * Messages that replace all earlier messages. Not together with `steer`. When the text is empty, the last of them is
   * this message, for example with results of tools. Default: the earlier messages stay.
   */
  readonly messages?: readonly ProviderMessage[]
  /** Id of the message. A message that is sent again under the same id is not worked on again. Default: random. */
  readonly id?: string
}

interface AskOptions extends SendOptions {
  /** Interrupts the work on the message. The answer then has the status `interrupted`. */
  readonly signal?: AbortSignal
}

/** A message that the conversation has accepted. */
export interface SentMessage {
  readonly id: string
  /** Waits for the answer. */
  answer(): Promise<ConversationAnswer>
}

/**
 * A conversation with an agent: a workflow that lives until it is closed. Each method throws a PtcError with a code of
 * `docs/reference/errors.md`.
 */
export interface Conversation {
  readonly name: string
  /** `client.handle(workflowId)` has the tree and the events of the conversation. */
  readonly workflowId: string
  /** The files of the conversation: uploads, and artifacts of its code. docs/guides/files.md */
  readonly files: RunFiles
  /** Sends a message and waits for its answer. Starts the conversation if needed (`isNew: true`). */
  ask(text: string, options?: AskOptions): Promise<ConversationAnswer>
  /** Sends a message. Settles when the conversation has accepted it: from then on the message survives every crash. */
  send(text: string, options?: SendOptions): Promise<SentMessage>
  /**
   * Waits for the answer to a message from any client. The conversation keeps the latest 20 answers. `signal` ends the
   * waiting, and not the work.
   */
  answer(id: string, options?: { readonly signal?: AbortSignal }): Promise<ConversationAnswer>
  /**
   * Interrupts all work on the current message, or only the running code (`code`), as Ctrl-C does. Does nothing when
   * the conversation waits.
   */
  interrupt(what?: InterruptConversationInput['what']): Promise<void>
  status(): Promise<ConversationStatus>
  /**
   * Returns all messages, in the format of the provider's API. This includes a closed conversation while the server
   * keeps it. The client needs `values`.
   */
  history(): Promise<readonly ProviderMessage[]>
  /** Replaces all messages; without an argument, removes them. The variables of the sandbox stay. */
  reset(messages?: readonly ProviderMessage[]): Promise<void>
  /**
   * Interrupts the work, refuses messages that wait, and removes the sandbox. A later message starts a new
   * conversation.
   */
  close(): Promise<ConversationResult>
}

interface ConversationClient {
  readonly client: Client
  readonly taskQueue: string
  readonly values?: ValueReader | undefined
  readonly redact?: Redact
}

const sendOptionNames = [
  'steer',
  'attachments',
  'files',
  'messages',
  'id',
] as const satisfies readonly (keyof SendOptions)[]

/** Returns a conversation by its name, without a request. @throws PtcError RUN_INPUT_INVALID */
export function createConversation(
  { client, taskQueue, values, redact = unredacted }: ConversationClient,
  name: string,
  options: ConversationOptions = {},
): Conversation {
  const workflowId = conversationWorkflowId(taskQueue, name)
  checkConversationOptions(options)
  const conversation: ConversationRef = { client, name, workflowId }
  const send = async (text: string, sendOptions: SendOptions = {}): Promise<SentMessage> => {
    checkKeys('the options', sendOptions, sendOptionNames)
    const { id = randomUUID(), steer = false } = sendOptions
    checkMessage(text, sendOptions.messages)
    const { mustExist = false, ...input } = options
    const { agent, session, context } = input
    const attachments = await storeAttachments(client, sendOptions.attachments)
    const files = sendOptions.files && (await storeUploads(client, sendOptions.files))
    const messages = sendOptions.messages && (await storeMedia(client, sendOptions.messages))
    const message = {
      text,
      ...(attachments.length > 0 && { attachments }),
      ...(files && files.length > 0 && { files }),
      ...(steer && { steer }),
      ...defined({ messages }),
      ...(agent && { agent }),
      ...(session && { session }),
      ...defined({ context }),
    }
    const update = { updateId: id, args: [message] as [SendInput], waitForStage: WorkflowUpdateStage.ACCEPTED } as const
    checkInlineSize(Buffer.byteLength(JSON.stringify(message)), client.options.loadedDataConverter)
    const summary = toSummary(redact(text || lastText(messages), { kind: 'question' }))
    const start = (): Promise<UpdateHandle> => {
      const startInput: ConversationInput = { name, startedByMessage: id, ...input, ...(files && { files: [] }) }
      checkInlineSize(Buffer.byteLength(JSON.stringify(startInput)), client.options.loadedDataConverter)
      return client.workflow.startUpdateWithStart<Workflow, AnswerResult, [SendInput]>(conversationMessages.send, {
        ...update,
        startWorkflowOperation: new WithStartWorkflowOperation<Workflow>(workflowNames.conversation, {
          workflowId,
          taskQueue,
          args: [startInput],
          workflowIdConflictPolicy: 'USE_EXISTING',
          staticSummary: summary,
          memo: { [memoKeys.summary]: summary, ...requesterMemo(context) },
        }),
      })
    }
    const join = (): Promise<UpdateHandle> =>
      client.workflow.getHandle(workflowId).startUpdate<AnswerResult, [SendInput]>(conversationMessages.send, update)
    const handle = await request(conversation, () => requireAccepted(client, mustExist ? join() : start()))
    return { id, answer: () => waitForAnswer(conversation, id, handle) }
  }
  return {
    name,
    workflowId,
    files: runFiles(client, workflowId),
    send,
    answer: async (id, { signal } = {}) => waitForAnswer(conversation, id, undefined, signal),
    async ask(text, { signal, ...sendOptions } = {}) {
      signal?.throwIfAborted()
      const message = await send(text, sendOptions)
      // Errors are ignored: when the work has ended or the server is unavailable, the wait for the answer reports it.
      const interrupt = (): void => void interruptWork(conversation, 'message').catch(() => undefined)
      return withAbortListener(signal, interrupt, () => message.answer())
    },
    interrupt: (what = 'message') => interruptWork(conversation, what),
    async status() {
      const { runId } = await requireOpen(conversation)
      return query<ConversationStatus>(conversation, runId, conversationMessages.status)
    },
    async history() {
      if (values === undefined) {
        throw new PtcError(
          'VALUE_STORE_UNKNOWN',
          'this client has no access to the value store, which has the messages',
          {
            hint: 'Create the client with `values`.',
          },
        )
      }
      const { runId } = await describeConversation(conversation)
      const { history, pending } = await query<ConversationHistory>(conversation, runId, conversationMessages.history)
      const never = new AbortController().signal
      const log = await readLog<ProviderMessage>(values, history, `conversation ${name}`, never)
      // The log also has references to truncated results.
      const stored = log.map(({ role, content }) => ({ role, content }))
      const content = await Promise.all(
        pending.map(async (block) => (await toUserBlock(wholeValues(values), block, never)).block),
      )
      const messages: readonly ProviderMessage[] =
        content.length === 0 ? stored : [...stored, { role: 'user', content: content.map((each) => ({ ...each })) }]
      // A stored reply may have more members.
      const inFormat = messages.map(({ role, content: each }) => ({ role, content: each }))
      return loadMedia(values, inFormat, never)
    },
    async reset(messages = []) {
      parseMessages(messages)
      const args: [ResetInput] = [{ messages }]
      checkInlineSize(Buffer.byteLength(JSON.stringify(messages)), client.options.loadedDataConverter)
      await requireOpen(conversation)
      const updateId = randomUUID()
      await request(conversation, () =>
        client.workflow.getHandle(workflowId).executeUpdate<void, [ResetInput]>(conversationMessages.reset, {
          args,
          updateId,
        }),
      )
    },
    async close() {
      const { runId } = await requireOpen(conversation)
      const handle = client.workflow.getHandle(workflowId)
      try {
        await handle.signal(conversationMessages.close)
        const awaitedWork = { failedAction: `conversation ${name} is to close`, isQuery: false }
        const ended = failWithoutWorker(client, { workflowId, runId }, awaitedWork, () => handle.result())
        // The workflow type guarantees this result type.
        return (await ended) as ConversationResult
      } catch (thrown) {
        throw conversationError(conversation, thrown)
      }
    },
  }
}

/** Returns a reader for large values. A client loads such a value as a whole, to show its head and tail. */
function wholeValues(values: ValueReader): Parameters<typeof toUserBlock>[0] {
  return {
    load: (value, neededBy, signal) => values.load(value, neededBy, signal),
    excerpt: async (value, _limit, neededBy, signal) => jsonToText(await values.load(value, neededBy, signal)),
  }
}

/** Returns the latest text of a user, for lists of conversations. */
function lastText(messages: readonly ProviderMessage[] = []): string {
  const texts = messages.flatMap(({ role, content }) => {
    if (role !== 'user') return []
    return typeof content === 'string'
      ? [content]
      : content.flatMap(({ type, text }) => (type === 'text' ? [text] : []))
  })
  return texts.findLast((each): each is string => typeof each === 'string') ?? ''
}
