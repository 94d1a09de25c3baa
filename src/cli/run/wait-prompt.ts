import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import type { PtcClient } from '../../client/index.js'
import { type CallWait, parseRef, type RunTree, type RunWait } from '../../client/run-tree/index.js'
import { askLine, canAsk, type LineAnswer, ringBell } from '../process/ask-line.js'
import { printError, printStatus } from '../process/stdio.js'
import { visibleJson } from '../process/visible-json.js'
import { type BudgetItem, formatAmount } from '../../common/budget/budget.js'
import { formatArguments } from '../rendering/tree/call-branch.js'
import { formatDuration } from '../../common/text/format.js'
import { oneLine } from '../rendering/text/sanitize.js'
import { describeWait, waitCommand, waitKey } from '../rendering/text/waits.js'
import type { ProgressWriter } from '../rendering/progress/progress-writer.js'
import { answerCall } from './answer-call.js'

type Decider = Pick<PtcClient, 'approveCall' | 'denyCall' | 'completeCall' | 'handle'>

/** The action for the decision of the user. Undefined: the user decides later. */
type Decision = { readonly done: string; readonly send: () => Promise<unknown> } | undefined

/** The user has left the questions by Ctrl-C or Ctrl-D, or the wait has ended. */
class Left extends Error {}

/** Where a person is asked. */
interface Terminal {
  canAsk(): boolean
  askLine(prompt: string, options: { readonly prefill?: string; readonly signal: AbortSignal }): Promise<LineAnswer>
}

/**
 * Asks the person at the terminal for the decisions that a run waits for: on a call, an answer, or a larger budget.
 * Asks about one wait at a time; the progress is not drawn meanwhile. Stops asking about a wait that ends in another
 * way.
 */
export class WaitPrompt {
  readonly #ptc: Decider
  readonly #progress: Pick<ProgressWriter, 'suspend' | 'resume'>
  readonly #terminal: Terminal
  readonly #canAsk: boolean
  /** Waits that the user has decided on or put off. */
  readonly #settled = new Set<string>()
  #asking: { readonly key: string; readonly over: AbortController } | undefined
  #tree: RunTree | undefined
  #isClosed = false

  constructor(
    ptc: Decider,
    progress: Pick<ProgressWriter, 'suspend' | 'resume'>,
    terminal: Terminal = { canAsk, askLine },
  ) {
    this.#ptc = ptc
    this.#progress = progress
    this.#terminal = terminal
    this.#canAsk = terminal.canAsk()
  }

  update(tree: RunTree): void {
    if (!this.#canAsk || this.#isClosed) return
    this.#tree = tree
    const keys = new Set(tree.waitsFor.map(waitKey))
    if (this.#asking && !keys.has(this.#asking.key)) this.#asking.over.abort()
    this.#askNext()
  }

  /** Ends the question. Idempotent. */
  close(): void {
    this.#isClosed = true
    if (!this.#asking) return
    this.#asking.over.abort()
    this.#progress.resume()
  }

  #askNext(): void {
    if (this.#asking || this.#isClosed || !this.#tree) return
    const tree = this.#tree
    // The result of another program is not asked for: `ptc answer` takes it.
    const wait = tree.waitsFor.find((each) => each.type !== 'result' && !this.#settled.has(waitKey(each)))
    if (!wait) return
    const over = new AbortController()
    this.#asking = { key: waitKey(wait), over }
    this.#progress.suspend()
    void this.#decide(tree, wait, over.signal).finally(() => {
      this.#asking = undefined
      if (!this.#isClosed) this.#progress.resume()
      this.#askNext()
    })
  }

  /** Never rejects. After an error the same question comes again. */
  async #decide(tree: RunTree, wait: RunWait, signal: AbortSignal): Promise<void> {
    try {
      const ask = (prompt: string, prefill?: string): Promise<string> => this.#ask(prompt, signal, prefill)
      const since = formatDuration(Date.now() - wait.since)
      ringBell()
      printStatus(`${describeWait(wait)} (for ${since})`)
      const decision = await decisionOn(this.#ptc, tree, wait, ask)
      this.#settled.add(waitKey(wait))
      if (!decision) return
      await decision.send().catch((thrown: unknown) => {
        // Another text may not fit either, when the tool wants more than a text.
        if (!isUnfit(thrown)) this.#settled.delete(waitKey(wait))
        throw thrown
      })
      printStatus(decision.done)
    } catch (thrown) {
      if (thrown instanceof Left) {
        if (signal.aborted && !this.#isClosed) printStatus('no longer needed: the wait has ended')
      } else {
        printError({ message: messageOf(thrown), hint: isUnfit(thrown) ? thrown.hint : undefined })
      }
    }
  }

  async #ask(prompt: string, signal: AbortSignal, prefill?: string): Promise<string> {
    const answer = await this.#terminal.askLine(prompt, { signal, ...defined({ prefill }) })
    if (answer.type === 'line') return answer.text.trim()
    if (!signal.aborted) {
      this.#isClosed = true
      this.#progress.resume()
    }
    // In raw mode, Ctrl-C sends no signal.
    if (answer.type === 'interrupted') process.kill(process.pid, 'SIGINT')
    throw new Left()
  }
}

/** The tool of a question does not take the answer; the hint says how to give it another one. */
function isUnfit(thrown: unknown): thrown is PtcError {
  return PtcError.isInstance(thrown) && thrown.code === 'TOOL_OUTPUT_INVALID'
}

type Ask = (prompt: string, prefill?: string) => Promise<string>

/** @throws Left; Error when what was typed is not what is needed */
async function decisionOn(ptc: Decider, tree: RunTree, wait: RunWait, ask: Ask): Promise<Decision> {
  const { workflowId } = tree
  if (wait.type === 'approval') return decideOnCall(ptc, workflowId, wait, ask)
  if (wait.type === 'budget') {
    const text = await ask(`the new budget of ${wait.item} (Enter: decide later): `)
    if (text === '') return undefined
    const amount = Number(text)
    if (!(amount > 0)) throw new Error(`${text} is not a number above 0`)
    return { done: 'the budget is raised', send: () => raiseBudget(ptc, workflowId, wait.item, amount) }
  }
  for (const line of wait.question?.schema ? describeMembers(wait.question.schema) : []) printStatus(`  ${line}`)
  const text = await ask('answer (Enter: decide later): ')
  if (text === '') return undefined
  const command = waitCommand(tree, { ...wait, type: 'result' })
  return { done: 'the question is answered', send: () => answerCall(ptc, wait.token, text, command) }
}

/** What the answer to a question of an MCP server consists of: one line for each member. */
function describeMembers({ properties, required }: JsonObject): readonly string[] {
  const members = isJsonObject(properties) ? Object.entries(properties) : []
  const names = Array.isArray(required) ? required : []
  const lines = members.map(([name, member]) => {
    const optional = names.includes(name) ? '' : ', optional'
    return oneLine(`${name}${optional}: ${visibleJson(isJsonObject(member) ? member : {})}`)
  })
  return members.length > 1 ? [...lines, 'type the answer as a JSON object'] : lines
}

/** @throws Error when the amount is not enough: the run still waits */
async function raiseBudget(ptc: Decider, workflowId: string, item: BudgetItem, amount: number): Promise<void> {
  const { used, paused } = await ptc.handle(workflowId).budget({ [item]: amount })
  // Another amount that is spent is the next question.
  if (paused?.item !== item) return
  const text = formatAmount(item, used[item] ?? amount)
  throw new Error(`the run has used ${text}, so it waits for a budget that is larger`)
}

async function decideOnCall(
  ptc: Decider,
  workflowId: string,
  { tool, token, arguments: args, workflowId: run = workflowId }: CallWait,
  ask: Ask,
): Promise<Decision> {
  // Shows all arguments: a person must see what they approve.
  printStatus(`  ${tool}(${formatArguments(args, true)})`)
  const isPreview = parseRef(args) !== undefined
  if (isPreview) printStatus(`This is only the beginning: \`ptc show ${run} --full\` shows all arguments.`)
  const approve = (options: Parameters<PtcClient['approveCall']>[1]): Decision => ({
    done: 'the call is approved',
    send: () => ptc.approveCall(token, options),
  })
  for (;;) {
    const choice = await ask(
      'approve? [y]es, [n]o, [e]dit the arguments, [a]lways these arguments, Enter: decide later: ',
    )
    switch (choice.toLowerCase()) {
      case '':
        return undefined
      case 'y':
      case 'yes':
        return approve({})
      case 'a':
      case 'always':
        return approve({ remember: true })
      case 'e':
      case 'edit':
        if (isPreview) {
          printStatus('The arguments are too large to edit here: use `ptc approve --arguments FILE`.')
          break
        }
        return approve({ arguments: await askArguments(args, ask) })
      case 'n':
      case 'no': {
        const reason = await ask('why (the code and the model read it): ')
        return { done: 'the call is denied', send: () => ptc.denyCall(token, reason || 'a person denied it') }
      }
      default:
        printStatus('Type y, n, e or a, or only Enter.')
    }
  }
}

async function askArguments(args: JsonObject, ask: Ask): Promise<JsonObject> {
  let text = visibleJson(args)
  for (;;) {
    text = await ask('arguments: ', text)
    try {
      const value: unknown = JSON.parse(text)
      if (isJsonObject(value)) return value
      printStatus('The arguments must be a JSON object.')
    } catch (thrown) {
      printStatus(`That is not JSON: ${messageOf(thrown)}`)
    }
  }
}
