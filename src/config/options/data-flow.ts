import { z } from 'zod'
import { type DataFlowConfig, type DataFlowRule, flowActions } from '../../common/calls/data-flow.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { matchesPattern } from '../../common/text/name-patterns.js'
import { didYouMean } from '../../common/text/unknown-keys.js'
import { dataLabels } from '../../tools/definition/options.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { Tool } from '../../tools/tool.js'

/** Where data may go. */
export interface DataFlowOption {
  /** Labels of each result, by the name of a tool, or a pattern such as `github__*`. Default: those of the tools. */
  readonly labels?: Readonly<Record<string, readonly string[]>>
  /** Labels of what each run is given: its question, messages, attachments, data and code. Default: none. */
  readonly input?: readonly string[]
  /** The first rule about a label and a receiver decides. Without one, the data may go there. */
  readonly rules: readonly DataFlowRule[]
}

const pattern = z.string().min(1).max(128)

const rule = z
  .strictObject({
    labels: dataLabels,
    tools: z.array(pattern).min(1).max(1_000).optional(),
    answer: z.literal(true).optional(),
    action: z.enum(flowActions),
  })
  .refine(({ tools, answer }) => tools !== undefined || answer, 'must name `tools`, or have `answer: true`')
  .transform(({ tools, answer, ...others }): DataFlowRule => ({ ...others, ...defined({ tools, answer }) }))

/** Accepts the option `dataFlow`. */
export const dataFlowOption = z.strictObject({
  labels: z.record(pattern, dataLabels).default({}),
  input: dataLabels.optional(),
  rules: z.array(rule).min(1).max(100),
})

export type DataFlowSettings = z.output<typeof dataFlowOption>

/**
 * Checks the option against all tools. A misspelt name in a rule would let data pass.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function checkDataFlow(settings: DataFlowSettings, registry: ToolRegistry): void {
  const { rules, input = [] } = settings
  const unknown = toolsNamedIn(settings).find((name) => registry.get(name) === undefined)
  if (unknown !== undefined) {
    throw invalid(`there is no tool named ${unknown}${didYouMean(unknown, registry.names)}`, 'Patterns have a `*`.')
  }
  const tools = registry.names.flatMap((name) => registry.get(name) ?? [])
  const given = new Set([...input, ...tools.flatMap((tool) => labelsOf(settings, tool))])
  const unused = rules.flatMap((each) => each.labels).find((label) => !given.has(label))
  if (unused !== undefined && !tools.some(({ labelResult }) => labelResult))
    throw invalid(`nothing gives data the label ${unused}${didYouMean(unused, [...given])}`)
  for (const tool of tools.filter(({ keepsArguments }) => keepsArguments)) checkKeptLabels(settings, tool)
}

/** The names of tools in rules and labels, without the patterns. */
export function toolsNamedIn({ rules, labels }: DataFlowSettings): readonly string[] {
  const named = [...rules.flatMap(({ tools = [] }) => tools), ...Object.keys(labels)]
  return named.filter((name) => !name.includes('*'))
}

/** What a tool keeps for later runs must have its label when it comes back. */
function checkKeptLabels(settings: DataFlowSettings, tool: Tool): void {
  const allowed = new Set(
    settings.rules
      .filter(({ action, tools = [] }) => action !== 'deny' && tools.some((each) => matchesPattern(tool.name, each)))
      .flatMap(({ labels }) => labels),
  )
  const own = labelsOf(settings, tool)
  const missing = [...allowed].find((label) => restrictedLabels(settings).has(label) && !own.includes(label))
  if (missing === undefined) return
  throw invalid(
    `a rule lets ${tool.name} keep data labelled ${missing}, and its results do not have the label`,
    `Add dataFlow.labels: { ${JSON.stringify(tool.name)}: [${JSON.stringify(missing)}] }.`,
  )
}

/**
 * Returns the rules and the labels of a run; undefined for a configuration without rules.
 *
 * @param registry the tools of the run
 */
export function dataFlowOfRun(
  settings: DataFlowSettings | undefined,
  registry: ToolRegistry,
): DataFlowConfig | undefined {
  if (!settings) return undefined
  const tools = registry.names.flatMap((name) => registry.get(name) ?? [])
  const labels = tools.map((tool) => [tool.name, labelsOf(settings, tool)] as const)
  const keeping = tools.filter(({ keepsArguments }) => keepsArguments).map(({ name }) => name)
  const restricted = [...restrictedLabels(settings)]
  const denied = { labels: restricted, tools: keeping, action: 'deny' } as const
  const labelledByResult = tools.filter(({ labelResult }) => labelResult).map(({ name }) => name)
  return {
    rules: keeping.length > 0 && restricted.length > 0 ? [...settings.rules, denied] : settings.rules,
    labels: Object.fromEntries(labels.filter(([, each]) => each.length > 0)),
    ...(settings.input && { input: settings.input }),
    ...(labelledByResult.length > 0 && { labelledByResult }),
  }
}

/** The labels that some rule denies, or lets a person decide about. */
function restrictedLabels({ rules }: DataFlowSettings): ReadonlySet<string> {
  return new Set(rules.filter(({ action }) => action !== 'allow').flatMap(({ labels }) => labels))
}

function labelsOf({ labels }: DataFlowSettings, tool: Tool): readonly string[] {
  const configured = Object.entries(labels).flatMap(([each, own]) => (matchesPattern(tool.name, each) ? own : []))
  return [...new Set([...(tool.labels ?? []), ...configured])]
}

function invalid(problem: string, hint?: string): PtcError {
  return new PtcError('CONFIG_INVALID', `dataFlow: ${problem}`, defined({ hint }))
}
