import { inputRequired, type InputRequiredResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { PtcClient, RunTree } from '../../client/index.js'
import { type CallWait, parseRef } from '../../client/run-tree/index.js'
import { decodeCompletionToken } from '../../common/calls/completion-token.js'
import { isApprovalKey } from '../../common/calls/approvals.js'
import { parseQuestionKey } from '../../common/calls/questions.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { messageOf } from '../../common/errors.js'
import { truncateMiddle } from '../../common/text/text.js'
import { formatWorkId, parseWorkId, type WorkId } from './work-id.js'

/*
 * Decisions on calls, by elicitation: the client asks a person, and its next request has the answers.
 */

/** What the next request of the client gives back. */
export interface RoundState {
  readonly work: WorkId
  /** The tokens of the calls that were asked about in this round. */
  readonly asked: readonly string[]
  /** Keys of the calls whose person gave no decision. They are not asked about again. */
  readonly undecided: readonly string[]
}

/** A client has a person decide on at most these calls at a time. */
const maxQuestions = 20
const maxArgumentCharacters = 2_000
const maxTokenLength = 4_000
const maxUndecided = 1_000

const stateSchema = z.strictObject({
  work: z.string().max(1_000),
  asked: z.array(z.string().max(maxTokenLength)).max(maxQuestions),
  undecided: z.array(z.string().max(500)).max(maxUndecided),
})

/** @throws PtcError RUN_INPUT_INVALID; ZodError, SyntaxError */
export function parseRoundState(text: string): RoundState {
  const { work, asked, undecided } = stateSchema.parse(JSON.parse(text))
  return { work: parseWorkId(work), asked, undecided }
}

/** The waits of a run that a person can end, without those of earlier rounds. */
export function openQuestions(tree: RunTree, undecided: readonly string[]): readonly CallWait[] {
  return tree.waitsFor.filter(
    (wait): wait is CallWait =>
      (wait.type === 'approval' || wait.type === 'answer') && !undecided.includes(questionKey(wait.token)),
  )
}

/** The questions for the client. Its next request continues the wait for the work. */
export function askForDecisions(
  work: WorkId,
  waits: readonly CallWait[],
  { undecided, problems }: SentDecisions,
): InputRequiredResult {
  const asked = waits.slice(0, maxQuestions)
  const requests = asked.map((wait, index) => {
    const problem = problems.get(questionKey(wait.token))
    return [`call_${index}`, questionOf(wait, problem === undefined ? '' : `${problem}\n\n`)] as const
  })
  const state = { work: formatWorkId(work), asked: asked.map(({ token }) => token), undecided }
  return inputRequired({ inputRequests: Object.fromEntries(requests), requestState: JSON.stringify(state) })
}

/** @param prefix why the last decision on the call was refused */
function questionOf({ type, tool, arguments: args, question: asked, summary }: CallWait, prefix: string) {
  if (asked) {
    const message = `${prefix}${summary}`
    // An address is shown as text: this server has not made it.
    return inputRequired.elicit({ message, requestedSchema: formOf(asked.schema) })
  }
  if (type === 'answer') {
    const question = typeof args['question'] === 'string' ? args['question'] : JSON.stringify(args)
    return inputRequired.elicit({
      message: `${prefix}${truncateMiddle(question, maxArgumentCharacters)}`,
      requestedSchema: {
        type: 'object',
        properties: { answer: { type: 'string', title: 'Answer' } },
        required: ['answer'],
      },
    })
  }
  const shown = truncateMiddle(JSON.stringify(args, null, 2), maxArgumentCharacters)
  const note = parseRef(args) === undefined ? '' : '\n(This is only the beginning of the arguments.)'
  return inputRequired.elicit({
    message: `${prefix}Approve this call?\n${tool}(${shown})${note}`,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: ['approve', 'deny'] },
        reason: { type: 'string', title: 'Reason of a denial, for the model' },
      },
      required: ['decision'],
    },
  })
}

/** The form of a question of another server, which was read from its elicitation. */
function formOf(schema: JsonObject | undefined): Form {
  return (schema ?? { type: 'object', properties: {} }) as unknown as Form
}

type Form = Extract<
  Parameters<typeof inputRequired.elicit>[0],
  { readonly requestedSchema: unknown }
>['requestedSchema']

const answerSchema = z.discriminatedUnion('action', [
  z.object({
    action: z.literal('accept'),
    content: z.record(z.string(), z.custom<JsonValue>()).default({}),
  }),
  z.object({ action: z.literal('decline') }),
  z.object({ action: z.literal('cancel') }),
])

/** The decisions of a round that were sent. */
export interface SentDecisions {
  /** Keys of the calls whose person gave no decision. */
  readonly undecided: readonly string[]
  /** Why a decision was refused, by the key of its call. The call still waits. */
  readonly problems: ReadonlyMap<string, string>
}

export const noDecisions: SentDecisions = { undecided: [], problems: new Map() }

type Decider = Pick<PtcClient, 'approveCall' | 'denyCall' | 'completeCall' | 'failCall'>

/** Sends the decisions of a person on the calls of a round. */
export async function sendDecisions(
  ptc: Decider,
  { asked, undecided }: RoundState,
  answers: Readonly<Record<string, unknown>>,
): Promise<SentDecisions> {
  const left = [...undecided]
  const problems = new Map<string, string>()
  await Promise.all(
    asked.map(async (token, index) => {
      const name = `call_${index}`
      const { data } = answerSchema.safeParse(Object.hasOwn(answers, name) ? answers[name] : undefined)
      if (data === undefined || data.action === 'cancel') return void left.push(questionKey(token))
      try {
        await send(ptc, token, data)
      } catch (thrown) {
        // A call that has ended meanwhile is not asked about again.
        problems.set(questionKey(token), messageOf(thrown))
      }
    }),
  )
  return { undecided: left.slice(-maxUndecided), problems }
}

const contentSchema = z.object({
  decision: z.enum(['approve', 'deny']).optional(),
  reason: z.string().max(2_000).optional(),
  answer: z.string().max(100_000).optional(),
})

type Decision = Exclude<z.output<typeof answerSchema>, { readonly action: 'cancel' }>

async function send(ptc: Decider, token: string, decision: Decision): Promise<void> {
  const by = 'MCP client'
  const isApproval = isApprovalKey(questionKey(token))
  if (decision.action === 'decline')
    return isApproval
      ? ptc.denyCall(token, 'a person declined', { by })
      : ptc.failCall(token, 'a person declined', { by })
  if (parseQuestionKey(questionKey(token))) return ptc.completeCall(token, decision.content, { by })
  const { decision: choice, reason, answer } = contentSchema.parse(decision.content)
  if (choice === 'approve') return ptc.approveCall(token, { by })
  if (choice === 'deny') return ptc.denyCall(token, reason?.trim() ? reason : 'a person denied it', { by })
  if (answer !== undefined) return ptc.completeCall(token, answer, { by })
}

/** A short text that tells calls apart. @throws PtcError COMPLETION_TOKEN_INVALID */
function questionKey(token: string): string {
  return decodeCompletionToken(token).idempotencyKey
}
