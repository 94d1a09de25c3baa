/*
 * Labels of data, and the rules on where labelled data may go. Everything here is recorded: in the configuration of a
 * run, and in its state.
 */
import { matchesPattern } from '../text/name-patterns.js'

/** Labels of one result at most, and of one rule. */
export const maxLabelsOfResult = 16

export function isDataLabel(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z][a-z0-9_.-]{0,63}$/i.test(value)
}

/** What a rule says about data with one of its labels. The last one is the strictest. */
export const flowActions = ['allow', 'ask', 'deny'] as const
export type FlowAction = (typeof flowActions)[number]

/** A rule on data with one of the labels, for some tools, the answer, or both. */
export interface DataFlowRule {
  readonly labels: readonly string[]
  /** Names of tools, or patterns such as `send_*`, that receive the data as arguments. Absent: none. */
  readonly tools?: readonly string[]
  /** True: the rule is about what the run returns as well. Absent: it is not. */
  readonly answer?: true
  /** `ask`: a person approves each call, or the answer. */
  readonly action: FlowAction
}

/** The rules of a run, and the labels of the results of its tools. */
export interface DataFlowConfig {
  /** The first rule about a label and a receiver decides. Without one, the data may go there. */
  readonly rules: readonly DataFlowRule[]
  /** Labels of each result, by the name of the tool. A tool without labels has no entry. */
  readonly labels: Readonly<Record<string, readonly string[]>>
  /** Labels of what each run is given. Absent: none. */
  readonly input?: readonly string[]
  /** The tools whose own function gives further labels to a result. Absent: none. */
  readonly labelledByResult?: readonly string[]
}

/** Maps each label to a description of where the data comes from, such as `get_customer in turn 2`. */
export type DataLabels = Readonly<Record<string, string>>

/** A receiver of data: a tool, or whoever reads what the run returns. */
export type Receiver = { readonly tool: string } | 'answer'

export type FlowDecision =
  | { readonly action: 'allow' }
  /** `reason` says what would flow where, such as `data labelled pii (get_customer in turn 2) to send_email`. */
  | { readonly action: 'ask' | 'deny'; readonly reason: string }

/** Decides by the strictest rule over all labels. */
export function decideFlow(rules: readonly DataFlowRule[], labels: DataLabels, receiver: Receiver): FlowDecision {
  const decided = Object.entries(labels).map(([label, origin]) => ({
    action: actionFor(rules, label, receiver),
    flow: `${label} (${origin})`,
  }))
  const action = flowActions.findLast((each) => decided.some((one) => one.action === each)) ?? 'allow'
  if (action === 'allow') return { action }
  const flows = decided.filter((one) => one.action === action).map(({ flow }) => flow)
  const target = receiver === 'answer' ? 'the answer' : receiver.tool
  return { action, reason: `data labelled ${flows.join(', ')} to ${target}` }
}

/** Returns whether some label would keep data from the receiver, or let a person decide. */
export function isRestricted({ rules }: Pick<DataFlowConfig, 'rules'>, receiver: Receiver): boolean {
  return rules.some(({ labels }) => labels.some((label) => actionFor(rules, label, receiver) !== 'allow'))
}

function actionFor(rules: readonly DataFlowRule[], label: string, receiver: Receiver): FlowAction {
  return rules.find((rule) => rule.labels.includes(label) && isAbout(rule, receiver))?.action ?? 'allow'
}

function isAbout({ tools = [], answer }: DataFlowRule, receiver: Receiver): boolean {
  if (receiver === 'answer') return answer === true
  return tools.some((pattern) => matchesPattern(receiver.tool, pattern))
}
