import { HandlerUnfinishedPolicy } from '@temporalio/common'
import { defineQuery, defineSignal, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow'
import { approvalKey } from '../../common/calls/approvals.js'
import { type CompleteCallInput, maxDeciderLength, type WorkflowWaits } from '../../common/calls/deferred-calls.js'
import type { SlotAnswer } from '../../common/calls/tool-slots.js'
import { describeQuestion, questionOfWait } from '../../common/calls/questions.js'
import { defined } from '../../common/defined.js'
import type { SampleUpdateInput, SampleUpdateResult } from '../../common/calls/sampling.js'
import { completeCallUpdate, sampleUpdate, slotAnswerSignal, waitsQuery } from '../../common/names.js'
import { failWorkflowOnError, handleSignal, rejection } from '../temporal/failures.js'
import { noLongerWaiting } from './completion-outcome.js'
import { type Completions, waitKeyOf } from './completions.js'
import type { RunCalls } from './run-calls.js'
import { noCall, type Sampling } from './sampling.js'
import { releaseSlot } from './tool-slots.js'

const completeCall = defineUpdate<void, [CompleteCallInput]>(completeCallUpdate)
const sample = defineUpdate<SampleUpdateResult, [SampleUpdateInput]>(sampleUpdate)
const slotAnswer = defineSignal<[SlotAnswer]>(slotAnswerSignal)
const waits = defineQuery<WorkflowWaits>(waitsQuery)

/**
 * Handles the messages for calls: the update that completes a call, the update by which a call
 * asks the model, the answers of limiters, and the query for waits.
 *
 * @param runs the calls of each run of this workflow
 */
export function handleCallMessages(runs: () => Iterable<RunCalls>): void {
  const find = (input: CompleteCallInput): Completions => {
    const found = [...runs()].find(({ completions }) => completions.hasSigned(input))
    if (!found) throw noLongerWaiting()
    return found.completions
  }
  const validator = (input: unknown): void => {
    assertCompleteCallInput(input)
    find(input).validate(input)
  }
  setHandler(completeCall, (input) => failWorkflowOnError(async () => find(input).complete(input)), { validator })
  const samplingOf = (input: SampleUpdateInput): Sampling => {
    const found = [...runs()].find(({ sampling }) => sampling.has(input))
    if (!found) throw noCall()
    return found.sampling
  }
  setHandler(sample, (input) => failWorkflowOnError(async () => samplingOf(input).sample(input)), {
    validator: (input: unknown) => {
      assertSampleInput(input)
      samplingOf(input).validate(input)
    },
    unfinishedPolicy: HandlerUnfinishedPolicy.ABANDON,
  })
  setHandler(waits, () => waitsOf([...runs()]))
  handleSignal(slotAnswer, (input) => {
    const { key, limiter, answer } = input
    const isKnown = [...runs()].some(({ toolSlots }) => toolSlots.answer(input))
    // A slot for a call that no run has goes back. The release fails when the limiter has ended.
    if (!isKnown && answer === 'granted') releaseSlot(limiter, key).catch(() => undefined)
  })
}

function isFailure({ message, ...flags }: { readonly message: unknown }): boolean {
  const { compensate, cancel } = flags as { readonly compensate?: unknown; readonly cancel?: unknown }
  return typeof message === 'string' && [compensate, cancel].every((flag) => flag === undefined || flag === true)
}

function assertCompleteCallInput(input: unknown): asserts input is CompleteCallInput {
  const { idempotencyKey, signature, digest, result, by } = (input ?? {}) as Partial<CompleteCallInput>
  const isComplete = [idempotencyKey, signature, digest].every((part) => typeof part === 'string')
  const hasResult = result?.type === 'value' || (result?.type === 'failure' && isFailure(result))
  const hasDecider = by === undefined || (typeof by === 'string' && by.length <= maxDeciderLength)
  if (!isComplete || !hasResult || !hasDecider)
    throw rejection('RUN_INPUT_INVALID', `the input of ${completeCallUpdate} is not valid`)
}

/** Characters of an idempotency key, and of the id of a request. */
const maxKeyLength = 64

function assertSampleInput(input: unknown): asserts input is SampleUpdateInput {
  const { idempotencyKey, id, request, maxTokens, promptTokens } = (input ?? {}) as Partial<SampleUpdateInput>
  const areCounts = [maxTokens, promptTokens].every((count) => Number.isSafeInteger(count) && Number(count) >= 0)
  const areTexts = [idempotencyKey, id].every((each) => typeof each === 'string' && each.length <= maxKeyLength)
  if (!areTexts || typeof request !== 'object' || request === null || !areCounts)
    throw rejection('RUN_INPUT_INVALID', `the input of ${sampleUpdate} is not valid`)
}

function waitsOf(open: readonly RunCalls[]): WorkflowWaits {
  const [paused] = open.flatMap(({ run: { budget } }) => {
    const { paused: pause } = budget.status
    return pause ? [budget.pauseAt(pause.item, { ...pause })] : []
  })
  const [servedRun] = open.flatMap(({ run: { progress } }) => progress.servedRun ?? [])
  return {
    firstExecutionRunId: workflowInfo().firstExecutionRunId,
    calls: open.flatMap(callsToDecide),
    ...defined({ paused }),
    helpers: open.flatMap(({ run: { progress } }) => [...progress.helpers]),
    ...defined({ servedRun }),
  }
}

/** Returns the calls that wait for a person or a program to decide on them, with the data for their tokens. */
function callsToDecide({ completions, toDecide, waiting }: RunCalls): WorkflowWaits['calls'] {
  return [...toDecide].flatMap(({ wait, position, idempotencyKey: key, described }) => {
    if (!wait || !('since' in wait)) return []
    const { for: type, since, expiresAt } = wait
    const call = waiting.get(key)
    const [asked] = (call?.state.type === 'question' && call.asked?.open) || []
    const { tool, arguments: args } = described
    const summary = asked ? describeQuestion(asked) : described.summary
    const idempotencyKey = type === 'approval' ? approvalKey(key) : call && asked ? waitKeyOf(call) : key
    const question = asked && questionOfWait(asked)
    const signature = completions.sign(idempotencyKey)
    const shown = { type, tool, summary, arguments: args, position, ...defined({ question }), since, expiresAt }
    return [{ ...shown, idempotencyKey, signature }]
  })
}
