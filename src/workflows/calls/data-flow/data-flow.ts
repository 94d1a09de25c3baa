/*
 * Where labelled data of a run is, and where it may go.
 *
 * Owns: the labels of what the model has read, the labels of what the code of the session has been given, and the
 * decision on each call and each answer.
 * Boundary: it never sees data. A label says that data may be there, so the rule is coarse: it holds back what has
 * nothing to do with the data, too. What people see of a run (the history, the tree, the stream) is no receiver.
 *
 * Invariants:
 * 1. What a tool returns has its labels wherever it goes. Code that got it can put it anywhere in its session: each
 *    later call of the session has the labels, and so has all output.
 * 2. What the model has read is in each later call and in all code that it writes. The labels of a model never end:
 *    compaction, a reset of the messages and continue-as-new keep them.
 * 3. The labels of a session end with its variables: when the next cell starts an empty program.
 * 4. A sub-agent begins with the labels of its caller, and its answer has the labels that it ends with.
 * 5. What a run is given has the labels of inputs from its first moment.
 * 6. A label that can't be computed counts as every label that a rule names.
 */
import type { Caller } from '../../../common/calls/calls.js'
import {
  type DataFlowConfig,
  type DataLabels,
  decideFlow,
  type FlowDecision,
  isRestricted,
  type Receiver,
} from '../../../common/calls/data-flow.js'
import { digestJson } from '../../../common/calls/call-identity.js'
import type { JsonValue } from '../../../common/json/json.js'
import type { RunConfig } from '../../../common/run/run-config.js'
import type { CallOutcome } from '../../../common/calls/outcomes.js'

/** Absent: no labels. */
export interface DataFlowState {
  readonly model?: DataLabels
  readonly session?: DataLabels
}

/** Labels of one result that its tool computed; undefined: the tool did not succeed. */
export type ComputedLabels = readonly string[] | undefined

/** The outcomes with a text of the tool, or with its result. The other texts are those of the engine. */
const outcomesWithData: readonly CallOutcome['status'][] = ['ok', 'tool_error', 'outcome_unknown']

export class DataFlow {
  readonly #config: DataFlowConfig | undefined
  /** True when the API of the model executes the code: what code has been given, the model may have read. */
  readonly #isHosted: boolean
  #model: DataLabels
  #session: DataLabels

  constructor(config: DataFlowConfig | undefined, isHosted: boolean, { model = {}, session = {} }: DataFlowState = {}) {
    this.#config = config
    this.#isHosted = isHosted
    this.#model = { ...this.#labelsOfInput, ...model } // invariant 5
    this.#session = session
  }

  get state(): DataFlowState | undefined {
    const [model, session] = [this.#model, this.#session]
    if (isEmpty(model) && isEmpty(session)) return undefined
    return { ...(!isEmpty(model) && { model }), ...(!isEmpty(session) && { session }) }
  }

  /** The labels of what the model has read. */
  get ofModel(): DataLabels {
    return this.#model
  }

  /** The labels of what the code of the session has been given. */
  get ofSession(): DataLabels {
    return this.#session
  }

  /** The labels of what a caller may put into the arguments of a call. */
  ofCaller(caller: Caller): DataLabels {
    return this.#isCode(caller) ? this.#session : this.#model
  }

  decide(receiver: Receiver, labels: DataLabels): FlowDecision {
    return this.#config ? decideFlow(this.#config.rules, labels, receiver) : { action: 'allow' }
  }

  /** Whether a worker may make a call by itself: no rule is about its arguments. */
  mayCallLocally(tool: string): boolean {
    return !this.#config || !isRestricted(this.#config, { tool })
  }

  /** Whether the tool computes labels of each result. */
  labelsResults(tool: string): boolean {
    return this.#config?.labelledByResult?.includes(tool) === true
  }

  /** Whether a rule may hold back the answer, so that nobody may read it before. */
  get mayHoldAnswer(): boolean {
    return this.decide('answer', this.#model).action !== 'allow'
  }

  /**
   * Adds the labels of an outcome to those of its caller: invariant 1.
   *
   * @param computed by the tool, if it computes labels
   * @param inherited from a sub-agent
   */
  addOutcome(
    call: { readonly tool: string; readonly caller: Caller; readonly turn: number },
    outcome: CallOutcome,
    computed: ComputedLabels,
    inherited: DataLabels = {},
  ): void {
    if (!outcomesWithData.includes(outcome.status)) return
    const own = this.labelsOfResult(call, computed)
    const named = this.#namedLabels
    // The run keeps no label that no rule names: a tool can't make its state grow.
    const known = [...Object.entries(own), ...Object.entries(inherited)].filter(([label]) => named.includes(label))
    if (known.length > 0) this.#add(call.caller, Object.fromEntries(known))
  }

  /** Returns the labels of a result. @param computed by the tool, if it computes labels */
  labelsOfResult(
    { tool, turn }: { readonly tool: string; readonly turn: number },
    computed: ComputedLabels,
  ): DataLabels {
    const config = this.#config
    if (!config) return {}
    const own = Object.hasOwn(config.labels, tool) ? (config.labels[tool] ?? []) : []
    const ofResult = this.labelsResults(tool) ? (computed ?? this.#namedLabels) : [] // invariant 6
    return Object.fromEntries([...own, ...ofResult].map((label) => [label, `${tool} in turn ${turn}`]))
  }

  /** Adds the labels of a file that a tool has returned: whoever called it, the code of the session can read it. */
  addFile(labels: DataLabels): void {
    const named = Object.entries(labels).filter(([label]) => this.#namedLabels.includes(label))
    if (named.length > 0) this.#session = { ...Object.fromEntries(named), ...this.#session }
  }

  /**
   * Called before a cell.
   *
   * @param isEmptySession the session has no variables, and no files of tools: invariant 3
   * @param ofAuthor the labels of the model that has written the code, if it is another one: invariant 2
   */
  beginCell(isEmptySession: boolean, ofAuthor: DataLabels = this.#model): void {
    this.#session = { ...ofAuthor, ...(isEmptySession ? {} : this.#session) }
  }

  /** Every label that a rule names: invariant 6. @param origin where the data comes from */
  everyLabel(origin: string): DataLabels {
    return Object.fromEntries(this.#namedLabels.map((label) => [label, origin]))
  }

  /** Called when the model reads the output of code, which has the labels of the session that executed it. */
  readOutput(labels: DataLabels = {}): void {
    this.#model = { ...labels, ...this.#model }
  }

  get #labelsOfInput(): DataLabels {
    const labels = this.#config?.input?.filter((label) => this.#namedLabels.includes(label)) ?? []
    return Object.fromEntries(labels.map((label) => [label, 'the input of the run']))
  }

  get #namedLabels(): readonly string[] {
    return this.#config?.rules.flatMap(({ labels }) => labels) ?? []
  }

  #add(caller: Caller, labels: DataLabels): void {
    // The oldest origin stays: it says how the data came in.
    if (this.#isCode(caller)) this.#session = { ...labels, ...this.#session }
    else this.#model = { ...labels, ...this.#model }
  }

  #isCode(caller: Caller): boolean {
    return caller === 'code_execution' && !this.#isHosted
  }
}

/** Identifies the rules of a run; undefined for a run without rules. */
export function digestOfRules({ dataFlow }: Pick<RunConfig, 'dataFlow'>): string | undefined {
  return dataFlow && digestJson(dataFlow.rules as unknown as JsonValue)
}

/** The member of a message that carries labels. It has none when there are none. */
export function labelsMember(labels: DataLabels): { readonly labels?: DataLabels } {
  return isEmpty(labels) ? {} : { labels }
}

function isEmpty(labels: DataLabels): boolean {
  return Object.keys(labels).length === 0
}
