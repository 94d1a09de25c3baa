import { currentUpdateInfo, defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow'
import type {
  AnswerRequest,
  AnswerResult,
  ConversationHistory,
  ConversationInput,
  ConversationResult,
  ConversationStatus,
  InterruptConversationInput,
  ResetInput,
  SendInput,
} from '../../common/conversation/conversation.js'
import { defined } from '../../common/defined.js'
import { conversationMessages } from '../../common/names.js'
import { handleBudget } from '../run/budget.js'
import { registerInspectQuery, withRuntime } from '../cell/code-runtime.js'
import { compensateUnfinished } from '../calls/compensation/compensate-unfinished.js'
import { continueAsNew } from '../run/continue-as-new.js'
import { startRun } from '../start-run.js'
import { failWorkflowOnError, handleSignal } from '../temporal/failures.js'
import { recordSummary } from '../run/memo.js'
import { publishEnd } from '../run/search-attributes.js'
import { Conversation, type ConversationState } from './conversation.js'

const send = defineUpdate<AnswerResult, [SendInput]>(conversationMessages.send)
const answer = defineUpdate<AnswerResult, [AnswerRequest]>(conversationMessages.answer)
const reset = defineUpdate<void, [ResetInput]>(conversationMessages.reset)
const interrupt = defineSignal<[InterruptConversationInput]>(conversationMessages.interrupt)
const close = defineSignal(conversationMessages.close)
const status = defineQuery<ConversationStatus>(conversationMessages.status)
const history = defineQuery<ConversationHistory>(conversationMessages.history)

/**
 * Workflow `conversation`: answers messages with turns of a model, its code and its tools, until it is closed. Update
 * `send` sends a message and returns its answer. `conversation.ts` has the invariants.
 */
export async function conversation(input: ConversationInput, state?: ConversationState): Promise<ConversationResult> {
  return failWorkflowOnError(async () => {
    recordSummary(`conversation ${input.name}`)
    const { name, startedByMessage, messages: _, closeAfterMs, ...options } = input
    const instance = new Conversation(input, state)
    // The handlers are set before the first await, because the first update arrives with the start.
    const messageId = (): string => currentUpdateInfo()?.id ?? ''
    setHandler(send, (message) => failWorkflowOnError(() => instance.send(message, messageId())), {
      validator: (message) => instance.validateMessage(message, messageId()),
    })
    setHandler(answer, ({ id }) => failWorkflowOnError(() => instance.waitForAnswer(id)), {
      validator: ({ id }) => instance.validateRequest(id),
    })
    setHandler(reset, ({ messages }) => failWorkflowOnError(() => instance.reset(messages)), {
      validator: ({ messages }) => instance.validateReset(messages),
    })
    handleSignal(interrupt, (request) => instance.interrupt(request))
    handleSignal(close, () => instance.close())
    setHandler(status, () => instance.status())
    setHandler(history, () => instance.history())
    const next: ConversationInput = {
      name,
      startedByMessage,
      ...defined({ agent: input.agent, session: input.session, context: input.context, closeAfterMs }),
    }
    const calls = await instance.failMessagesWith(() => startRun({ kind: 'conversation', options, state }))
    const { run, compensations } = calls
    const turns = instance.createTurns(calls, state, async (nextState, isUpgraded) => {
      await continueAsNew<typeof conversation>(run, [next, nextState], isUpgraded)
    })
    registerInspectQuery(turns.codeRuntime)
    handleBudget(run.budget)
    const work = () => instance.failMessagesWith(() => instance.runUntilClosed())
    return publishEnd(
      run,
      () =>
        compensateUnfinished(
          compensations,
          () => withRuntime(turns.codeRuntime, work),
          () => true,
        ),
      () => 'closed',
    )
  })
}
