import { ActivityFailure, ApplicationFailure, CancellationScope } from '@temporalio/workflow'
import type { ErrorCode } from '../common/errors.js'
import type { Message, ModelReply, UserBlock } from '../common/messages.js'
import { type AgentInput, type AgentResult, type AgentStatus, contextTokens, textOf } from '../common/runs.js'
import { shortNumber, utf8Length } from '../common/text.js'
import { answerInspect } from './answer-inspect.js'
import { decide } from './decide.js'
import { modelTurn } from './engine.js'
import { neverHang } from './never-hang.js'
import { closeNotebook, type Notebook, openNotebook } from './notebook.js'
import { countReply, type Run, showProgress, startRun } from './run.js'
import { serveReply } from './serve-reply.js'

/** Workflow `agent`: question -> model -> code and tools -> ... -> answer. */
export async function agent(input: AgentInput): Promise<AgentResult> {
  return neverHang(async () => {
    const run = await startRun(input)
    const notebook = openNotebook(run, { idleMs: run.plan.timings.idleMs })
    answerInspect(run, notebook)
    const calls = new CancellationScope()
    try {
      const { status, answer } = await calls.run(() => converse(run, notebook, input.question))
      return { status, answer, ...run.counts }
    } finally {
      calls.cancel() // calls that code started and never waited for
      await closeNotebook(notebook)
    }
  })
}

/** Temporal refuses payloads over 2 MiB; no context window holds as much text. */
const conversationBytes = 1_800_000

interface Ending {
  readonly status: AgentStatus
  readonly answer: string
}

async function converse(run: Run, notebook: Notebook, question: string): Promise<Ending> {
  const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: question }] }]
  const { limits, model } = run.plan
  let maxTokens = model.maxTokens
  let nudges = 0
  let lastText = ''
  let last: ModelReply | undefined
  while (run.counts.turns < limits.turns) {
    run.counts.turns += 1
    const { turns: turn } = run.counts
    showProgress(run, `the model answers (turn ${turn})`)
    if (utf8Length(JSON.stringify(messages)) > conversationBytes) return { status: 'context_full', answer: lastText }
    const request = { turn, model: { ...model, maxTokens }, limits, messages }
    const answered = await modelTurn(request, run.plan.timings, turnSummary(turn, last)).catch(unlessContextFull)
    if (!answered) return { status: 'context_full', answer: lastText }
    const { reply, calls } = answered
    last = reply
    countReply(run, reply)
    lastText = textOf(reply.content) || lastText
    const decision = decide(reply)
    switch (decision.type) {
      case 'end':
        return { status: decision.status, answer: decision.answer }
      case 'more_room':
        if (maxTokens > model.maxTokens) return { status: 'truncated', answer: textOf(reply.content) }
        maxTokens = model.maxTokens * 2
        break
      case 'nudge':
        nudges += 1
        if (nudges > 1) return { status: 'no_answer', answer: lastText }
        addUser(messages, [{ type: 'text', text: 'Your last reply was empty. Go on, or give your answer.' }])
        break
      case 'continue':
        messages.push({ role: 'assistant', content: reply.content })
        break
      case 'serve':
        messages.push({ role: 'assistant', content: reply.content })
        addUser(messages, await serveReply(run, notebook, decision.uses, calls))
        maxTokens = model.maxTokens
    }
  }
  return { status: 'turn_limit', answer: lastText }
}

/** Two user messages in a row are one for the API; results must come before text in it, which appending keeps. */
function addUser(messages: Message[], content: readonly UserBlock[]): void {
  const last = messages.at(-1)
  if (last?.role === 'user') messages[messages.length - 1] = { role: 'user', content: [...last.content, ...content] }
  else messages.push({ role: 'user', content })
}

/** What the model can't read any more ends the run with what it has; every other failure is the run's. */
function unlessContextFull(thrown: unknown): undefined {
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  if (!(cause instanceof ApplicationFailure && cause.type === contextTooLong)) throw thrown
}

const contextTooLong: ErrorCode = 'MODEL_CONTEXT_TOO_LONG'

function turnSummary(turn: number, last: ModelReply | undefined): string {
  if (!last) return `model turn ${turn}`
  return `model turn ${turn} · ${shortNumber(contextTokens(last.usage) + last.usage.outputTokens)} in`
}
