import { setTimeout as delay } from 'node:timers/promises'
import { watchWaitsOfRun } from '../../client/calls/waits-of-run.js'
import type { WaitOfRun } from '../../client/index.js'
import type { Conversation } from '../../client/conversations/conversation.js'
import {
  checkConversationOptions,
  checkText,
  type ConversationOptions,
  parseMessages,
} from '../../client/conversations/conversation-options.js'
import { checkName } from '../../client/start/check-name.js'
import { generateId } from '../../client/start/start-options.js'
import { raceWithSignal, waitForAbort } from '../../common/async/abort.js'
import type { FileUpload } from '../../common/files/files.js'
import { renderFileTable } from '../rendering/tables/file-table.js'
import type { Attachment } from '../../common/conversation/attachments.js'
import type { ConversationAnswer } from '../../common/conversation/conversation.js'
import { type ErrorCode, PtcError } from '../../common/errors.js'
import { roles } from '../../common/names.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import { pluralize } from '../../common/text/text.js'
import { type Environment, openEnvironment } from '../environment/environment.js'
import { raceWithExit } from '../environment/race-with-exit.js'
import { exitCodes } from '../process/exit-code.js'
import { listenForInterrupts } from '../process/interrupts.js'
import { readJson, readText } from '../process/read-text.js'
import { print, printError, printStatus } from '../process/stdio.js'
import { describeReport } from '../../common/calls/compensation.js'
import type { StreamEvent } from '../../stream/index.js'
import type { LiveText } from '../rendering/progress/live-text.js'
import {
  type AgentOptions,
  chosenAgent,
  type OverrideOptions,
  readAttachedFiles,
  readOverrides,
  readUploads,
} from '../run/options.js'
import { type ChatInput, openChatInput } from './chat-input.js'
import { incompleteStatusMessages } from '../run/print-run-ending.js'
import { newWaitLines } from '../rendering/text/waits.js'
import { showLiveText } from './show-live-text.js'

export interface ChatOptions extends AgentOptions, OverrideOptions {
  readonly config?: string
  readonly sandbox?: BackendChoice
  /** The first message. */
  readonly first?: string
  /** The only message; `-` reads it from standard input. */
  readonly message?: string
  /** A file with messages from another source, or their JSON. */
  readonly messages?: string
  /** The conversation must exist. */
  readonly resume?: boolean
  readonly json?: boolean
}

/**
 * Sends messages to a conversation and prints the answers, until the input ends; returns the exit code.
 *
 * @param given name of the conversation; undefined starts a new one
 */
export async function runChat(options: ChatOptions, given?: string): Promise<number> {
  using interrupts = listenForInterrupts()
  const { config, sandbox, json = false } = options
  const name = given ?? generateId('chat')
  const conversationOptions = await readConversationOptions(options)
  checkConversationOptions(conversationOptions)
  checkName('conversation', name)
  const single = options.message === '-' ? await raceWithSignal(interrupts.first, readText('-')) : options.message
  const attachments = await readAttachedFiles(options.attach)
  const { files = [] } = await readUploads(options.upload)
  for (const text of [single, options.first]) if (text !== undefined) checkText(text)
  await using environment = await openEnvironment({ config, sandbox, ifNoServer: 'start_with_worker', interrupts })
  await environment.requireWorkers(roles)
  const conversation = environment.ptc.conversation(name, conversationOptions)
  const { ptc } = environment
  const stream = (signal: AbortSignal) => ptc.handle(conversation.workflowId).stream({ signal })
  const waits = (signal: AbortSignal) => watchWaitsOfRun(ptc, conversation.workflowId, signal)
  const chat = new Chat(conversation, json, { attachments, files }, environment.stream && stream, waits)
  if (single !== undefined) {
    const asking = chat.ask(single, false)
    void waitForAbort(interrupts.first).then(() => chat.interrupt())
    await leaveOn(interrupts.second, asking, chat, environment)
    return chat.exitCode
  }
  using input = openChatInput()
  if (input.isTerminal) printStatus(`conversation ${name}: /help lists commands; exit or Ctrl-D leaves`)
  else void waitForAbort(interrupts.first).then(() => chat.interrupt())
  await leaveOn(
    AbortSignal.any([interrupts.second, ...(input.isTerminal ? [chat.left, interrupts.first] : [])]),
    chat.converse(input, options.first),
    chat,
    environment,
  )
  if (!chat.isClosed && (input.isTerminal || given === undefined)) printStatus(`\`ptc chat ${name}\` continues`)
  return chat.exitCode
}

async function readConversationOptions(options: ChatOptions): Promise<ConversationOptions> {
  const { messages, resume: mustExist } = options
  return {
    ...chosenAgent(options),
    ...(messages !== undefined && { messages: parseMessages(await readJson(messages, '--messages')) }),
    ...(mustExist && { mustExist }),
    ...(await readOverrides(options)),
  }
}

/** @throws Interrupted when the user leaves */
function leaveOn(leaveSignal: AbortSignal, work: Promise<void>, chat: Chat, environment: Environment): Promise<void> {
  const { name } = chat.conversation
  return raceWithExit(work, environment, {
    leaveSignal,
    leaveMessage: `the conversation ${environment.howWorkContinues}; \`ptc chat ${name}\` joins it`,
  })
}

/** The help text of `ptc chat`. */
const help = `/status       turns, calls, tokens and cost so far
/history      all messages as JSON, on stdout
/attach FILE  an image or a PDF for the next message
/upload FILE  a file for the code, with the next message
/files        the files of the conversation
/reset        forget all messages; the variables of the sandbox stay
/close        end the conversation and its sandbox; a named session stays
exit          leave; the conversation waits
Ctrl-C interrupts the work on a message. A message that is sent meanwhile is read with the model's next turn.
A message that begins with / has another / before it.`

const progressIntervalMs = 1_000

type ConversationStream = (signal: AbortSignal) => AsyncIterable<StreamEvent>
type ConversationWaits = (signal: AbortSignal) => AsyncIterable<readonly WaitOfRun[]>

/** After these errors the next message would fail too. */
const fatalCodes: readonly ErrorCode[] = [
  'TEMPORAL_UNREACHABLE',
  'INTERNAL',
  'AGENT_UNKNOWN',
  'TOOL_UNKNOWN',
  'CONVERSATION_NOT_FOUND',
]

class Chat {
  readonly conversation: Conversation
  exitCode: number = exitCodes.ok
  isClosed = false
  readonly #json: boolean
  readonly #stream: ConversationStream | undefined
  readonly #waits: ConversationWaits
  readonly #shownWaits = new Set<string>()
  /** Attachments and uploads of the next message. */
  #next: MessageFiles
  readonly #leave = new AbortController()
  #working = 0
  #isInterrupted = false
  #printAbove = (print: () => void): void => print()
  #setLiveText: ((liveText: LiveText | undefined) => void) | undefined
  #fail = (_thrown: unknown): void => undefined

  constructor(
    conversation: Conversation,
    json: boolean,
    next: MessageFiles,
    stream: ConversationStream | undefined,
    waits: ConversationWaits,
  ) {
    this.conversation = conversation
    this.#json = json
    this.#next = next
    this.#stream = stream
    this.#waits = waits
  }

  /** Aborted by the second Ctrl-C at the prompt. */
  get left(): AbortSignal {
    return this.#leave.signal
  }

  /**
   * Sends the lines of the input. At a terminal, the user may type the next line while the conversation works on one.
   */
  async converse(input: ChatInput, first: string | undefined): Promise<void> {
    if (input.isTerminal) {
      this.#printAbove = (print) => input.printAbove(print)
      input.onInterrupt(() => this.#onInterrupt(input))
      if (this.#stream) this.#setLiveText = (liveText) => input.setLiveText(liveText)
    }
    const failed = new Promise<never>((_resolve, reject) => (this.#fail = reject))
    if (first !== undefined) await this.#take(first, input)
    const next = () => Promise.race([input.next(), failed])
    for (let line = await next(); line !== undefined; line = await next()) {
      const text = line.trim()
      if (text === '') continue
      if (text === 'exit' || text === 'quit' || text === '/exit') break
      if (text.startsWith('/') && !text.startsWith('//')) {
        if (await this.#command(text)) return
      } else await this.#take(text.replace(/^\/\//, '/'), input)
    }
    if (this.#working > 0) printStatus('the conversation continues its work')
  }

  /**
   * Prints the answer.
   *
   * @param steers the message joins the message that is being worked on
   */
  async ask(text: string, steers: boolean): Promise<void> {
    this.#working += 1
    const isFirst = this.#working === 1
    const sent = this.#next
    this.#next = noFiles
    try {
      const { attachments, files } = sent
      const sending = this.conversation.send(text, { steer: steers, attachments, ...(files.length > 0 && { files }) })
      sending.catch(() => (this.#next = joinFiles(sent, this.#next)))
      const message = await sending
      const finished = new AbortController()
      if (isFirst) void this.#showProgress(finished.signal)
      if (isFirst) void this.#showWaits(finished.signal)
      if (isFirst && this.#stream && this.#setLiveText)
        void showLiveText(
          this.#stream(finished.signal),
          message.id,
          {
            setLiveText: this.#setLiveText,
            printLine: (line) => this.#printAbove(() => printStatus(line)),
          },
          finished.signal,
        )
      const answer = await message.answer().finally(() => finished.abort())
      if (isFirst) this.#setLiveText?.(undefined)
      if (answer.joined === undefined) this.#printAnswer(answer)
    } finally {
      this.#working -= 1
      if (this.#working === 0) this.#isInterrupted = false
    }
  }

  /** Interrupts the work on the current message. */
  interrupt(): void {
    this.#isInterrupted = true
    printStatus('interrupting; press Ctrl-C again to leave it running')
    // When the server is unavailable, the wait for the answer reports it.
    this.conversation.interrupt().catch(() => undefined)
  }

  #onInterrupt(input: ChatInput): void {
    if (this.#working === 0) return input.printAbove(() => printStatus('(type exit or Ctrl-D to leave)'))
    if (this.#isInterrupted) return this.#leave.abort()
    input.printAbove(() => this.interrupt())
  }

  async #take(text: string, { isTerminal }: ChatInput): Promise<void> {
    const asking = this.ask(text, isTerminal && this.#working > 0)
    if (!isTerminal) return asking
    asking.catch((thrown: unknown) => {
      if (!PtcError.isInstance(thrown) || fatalCodes.includes(thrown.code)) return this.#fail(thrown)
      this.#printAbove(() => printError(thrown))
    })
  }

  /** @returns true when the conversation is closed */
  async #command(text: string): Promise<boolean> {
    const [, command, file] = /^\/(attach|upload)\s+(.+)$/.exec(text) ?? []
    if (file !== undefined) {
      await this.#addFile(command === 'upload', file)
      return false
    }
    switch (text) {
      case '/status': {
        const status = await this.conversation.status()
        this.#printAbove(() => print(JSON.stringify(status)))
        return false
      }
      case '/history': {
        const messages = await this.conversation.history()
        this.#printAbove(() => print(JSON.stringify(messages, undefined, 2)))
        return false
      }
      case '/files': {
        const files = await this.conversation.files.list()
        this.#printAbove(() =>
          files.length === 0 ? printStatus('no files') : print(renderFileTable(files, undefined)),
        )
        return false
      }
      case '/reset':
        await this.conversation.reset()
        this.#printAbove(() => printStatus('all messages are forgotten'))
        return false
      case '/close':
        await this.conversation.close()
        this.isClosed = true
        printStatus(`conversation ${this.conversation.name} is closed`)
        return true
      default:
        this.#printAbove(() => printStatus(text === '/help' ? help : `there is no command ${text}\n${help}`))
        return false
    }
  }

  async #addFile(isUpload: boolean, file: string): Promise<void> {
    try {
      const added = isUpload
        ? { attachments: [], files: [], ...(await readUploads([file])) }
        : { attachments: await readAttachedFiles([file]), files: [] }
      this.#next = joinFiles(this.#next, added)
      this.#printAbove(() => printStatus(`${file} goes with the next message`))
    } catch (thrown) {
      if (!PtcError.isInstance(thrown)) throw thrown
      this.#printAbove(() => printError(thrown))
    }
  }

  #printAnswer(answer: ConversationAnswer): void {
    const { status } = answer
    this.exitCode =
      status === 'answered' ? exitCodes.ok : status === 'interrupted' ? exitCodes.interrupted : exitCodes.failed
    this.#printAbove(() => {
      if (this.#json) return print(JSON.stringify(answer))
      if (answer.answer !== '') print(answer.answer)
      if (status !== 'answered') printStatus(`ptc: ${describeEnd(answer)}`)
      if (answer.compensation) printStatus(`ptc: ${describeReport(answer.compensation)}`)
    })
  }

  async #showProgress(signal: AbortSignal): Promise<void> {
    let shown = ''
    while (!signal.aborted) {
      await delay(progressIntervalMs, undefined, { signal }).catch(() => undefined) // an abort ends the delay early
      const status = await this.conversation.status().catch(() => undefined)
      if (signal.aborted || !status) continue
      const { turns, cells, toolCalls } = status
      const line = `› turn ${turns}, ${pluralize(cells, 'cell')}, ${pluralize(toolCalls, 'call')}`
      if (line !== shown && process.stderr.isTTY) this.#printAbove(() => printStatus(line))
      shown = line
    }
  }

  async #showWaits(signal: AbortSignal): Promise<void> {
    for await (const waits of this.#waits(signal))
      for (const line of newWaitLines(waits, this.#shownWaits)) this.#printAbove(() => printStatus(`› ${line}`))
  }
}

interface MessageFiles {
  readonly attachments: readonly Attachment[]
  readonly files: readonly FileUpload[]
}

const noFiles: MessageFiles = { attachments: [], files: [] }

function joinFiles(one: MessageFiles, other: MessageFiles): MessageFiles {
  return { attachments: [...one.attachments, ...other.attachments], files: [...one.files, ...other.files] }
}

/** Describes why a message has no complete answer. */
function describeEnd({ status, error, isTakenBack }: ConversationAnswer): string {
  const again = isTakenBack ? '; the message was taken back, and can be sent again' : ''
  if (status === 'failed') return `the work on the message failed: ${error?.code}: ${error?.message}${again}`
  if (status === 'interrupted') return 'the work on the message was interrupted'
  return status === 'answered' ? '' : `${incompleteStatusMessages[status]}${again}`
}
