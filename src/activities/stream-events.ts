import type { ToolCallInput } from '../common/calls/calls.js'
import { PtcError } from '../common/errors.js'
import { isTextBlock, isToolUseBlock, type ModelReply } from '../common/runs/messages.js'
import { toolUseCaller } from '../common/runs/hosted-code.js'
import { executeCodeTool } from '../common/names.js'
import { toCallStatus } from '../common/calls/outcomes.js'
import type { SessionRef } from '../common/session/session.js'
import type { LocalCallAllowance, Step, StepResult } from '../common/session/steps.js'
import { truncateEnd, truncateMiddle } from '../common/text/text.js'
import type { ModelDelta, ModelPhase, ModelProgress } from '../models/provider.js'
import type { Publish, StreamPublisher } from '../stream/index.js'
import type { ActivityScope } from './run-activity.js'

type Origin = Pick<ActivityScope, 'workflowId' | 'runId' | 'attempt'>

/** Maximum characters of the output of one step, and of an error. */
const maxOutputCharacters = 16_000

/**
 * Minimum milliseconds between two events with the output of a step so far. A hostile runner sends output without a
 * pause.
 */
const partialOutputMs = 200

/** Maximum characters of the reason why an attempt of a turn failed. */
const maxMessageCharacters = 500

interface PublishedTurn {
  readonly turn: number
  readonly model: string
  /** Number of messages in the conversation before the turn. */
  readonly messages: number
  readonly committedTurns?: number
  /** Id of the message of a conversation. */
  readonly message?: string
  readonly planStep?: string
  /** Number of models that may still be asked in place of this one. */
  readonly fallbacks: number
}

/** Publishes the text and code of a model while they arrive. */
export class TurnStream {
  readonly #publish: Publish
  readonly #turn: number
  #phase: ModelPhase = 'waiting'
  #hasDelta = false

  static begin(stream: StreamPublisher | undefined, { turn, fallbacks, ...fields }: PublishedTurn, scope: Origin) {
    const { workflowId, runId, attempt } = scope
    // A fallback asks for the same turn in another activity, and the attempts of that activity begin with 1 again.
    const publish = stream?.attempt({ workflowId, runId, attempt, unit: `turn/${turn}`, epoch: -fallbacks })
    publish?.({ type: 'turn.started', turn, ...fields })
    return publish && new TurnStream(publish, turn)
  }

  private constructor(publish: Publish, turn: number) {
    this.#publish = publish
    this.#turn = turn
  }

  progress({ phase }: ModelProgress): void {
    if (phase === this.#phase || phase === 'waiting') return
    this.#phase = phase
    this.#publish({ type: 'status', turn: this.#turn, phase })
  }

  delta(delta: ModelDelta): void {
    this.#hasDelta = true
    this.#publish({ ...delta, turn: this.#turn })
  }

  /** Called when the reply is stored. */
  end({ content, stopReason }: ModelReply): void {
    if (!this.#hasDelta) for (const delta of content.flatMap(wholeBlock)) this.delta(delta)
    this.#publish({ type: 'turn.completed', turn: this.#turn, stopReason })
  }

  fail(thrown: unknown): void {
    const failure = PtcError.isInstance(thrown)
      ? { code: thrown.code, message: truncateEnd(thrown.message, maxMessageCharacters) }
      : { code: 'CANCELLED' }
    this.#publish({ type: 'turn.failed', turn: this.#turn, ...failure })
  }
}

/** Returns the text or code of a block, for a provider that does not stream. */
function wholeBlock(content: ModelReply['content'][number], block: number): readonly ModelDelta[] {
  if (isTextBlock(content)) return [{ type: 'text', block, text: content.text }]
  const code = isToolUseBlock(content) && content.name === executeCodeTool ? content.input['code'] : undefined
  return typeof code === 'string' ? [{ type: 'code', block, text: code }] : []
}

interface PublishedStep {
  readonly session: Pick<SessionRef, 'id' | 'epoch'>
  readonly step: Step
  /** The turn and cell of the step. Absent: they are unknown. */
  readonly localCalls?: Pick<LocalCallAllowance, 'turn' | 'cell'> | undefined
}

/**
 * Executes a step, and publishes its output and whether it ended the cell.
 *
 * @param execute receives a function; it must call it with the end of the output of the step so far
 */
export async function streamStep(
  stream: StreamPublisher | undefined,
  { session, step, localCalls }: PublishedStep,
  { workflowId, runId, attempt }: Origin,
  execute: (onPrinted?: (text: string) => void) => Promise<StepResult>,
): Promise<StepResult> {
  const unit = `step/${session.id}/${step.number}`
  const publish = stream?.attempt({ workflowId, runId, attempt, unit, epoch: session.epoch })
  if (publish === undefined) return execute()
  const { input } = step
  const fields = { ...(input.type === 'cell' && { cell: input.cell }), ...cellFields(localCalls) }
  if (input.type === 'cell') publish({ type: 'cell.started', ...fields })
  let lastPartialAt = -Infinity
  const result = await execute((text) => {
    if (performance.now() - lastPartialAt < partialOutputMs) return
    lastPartialAt = performance.now()
    publish({ type: 'output.preview', ...fields, text })
  })
  if (result.type === 'lost') {
    publish({ type: 'step.failed' })
    return result
  }
  if (result.output !== '') {
    publish({ type: 'output', ...fields, text: truncateMiddle(result.output, maxOutputCharacters) })
  }
  if (result.type === 'completed') publish({ type: 'cell.completed', ...fields, status: 'completed' })
  if (result.type === 'failed') {
    const error = truncateMiddle(result.error, maxOutputCharacters)
    publish({ type: 'cell.completed', ...fields, status: result.kind, error })
  }
  return result
}

function cellFields(localCalls: PublishedStep['localCalls']) {
  return localCalls && { turn: localCalls.turn, cell: localCalls.cell }
}

interface PublishedCall extends Pick<ToolCallInput, 'tool' | 'caller' | 'position' | 'idempotencyKey'> {
  /** A redacted description of the call, on one line. */
  readonly summary: string
  /** True when the result arrives later, from outside. */
  readonly isDeferred: boolean
}

/** Publishes that a call waits for its approval. */
export function streamApprovalRequest(
  stream: StreamPublisher | undefined,
  { idempotencyKey, summary, ...call }: Omit<PublishedCall, 'isDeferred'>,
  { workflowId, runId, attempt }: Origin,
): void {
  const publish = stream?.attempt({ workflowId, runId, attempt, unit: `approval/${idempotencyKey}` })
  publish?.({ type: 'approval.requested', ...streamedCall({ ...call, idempotencyKey }), summary })
}

function streamedCall({ tool, caller, position, idempotencyKey }: Omit<PublishedCall, 'isDeferred' | 'summary'>) {
  const { turn, cell } = position
  return { call: idempotencyKey, tool, caller, ...toolUseCaller(position), turn, cell }
}

/** Runs a tool call, and publishes its start, the milestones of the tool, and its end. */
export async function streamCall<Result>(
  stream: StreamPublisher | undefined,
  { summary, isDeferred, ...call }: PublishedCall,
  { workflowId, runId, attempt, signal }: Origin & Pick<ActivityScope, 'signal'>,
  run: (milestone: (line: string) => void) => Promise<Result>,
): Promise<Result> {
  const publish = stream?.attempt({ workflowId, runId, attempt, unit: `call/${call.idempotencyKey}` })
  if (publish === undefined) return run(() => undefined)
  const fields = streamedCall(call)
  publish({ type: 'call.started', ...fields, summary })
  // A tool may continue to run after the call has timed out.
  let hasEnded = false
  try {
    const result = await run((text) => {
      if (!hasEnded) publish({ type: 'milestone', ...fields, text })
    })
    publish({ type: 'call.completed', ...fields, status: isDeferred ? 'deferred' : 'ok' })
    return result
  } catch (thrown) {
    const status = signal.aborted ? 'cancelled' : toCallStatus(PtcError.isInstance(thrown) ? thrown.code : '')
    publish({ type: 'call.completed', ...fields, status })
    throw thrown
  } finally {
    hasEnded = true
  }
}
