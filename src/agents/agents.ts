import { PtcError } from '../common/errors.js'
import { didYouMean } from '../common/text/unknown-keys.js'
import type { ToolRegistry } from '../tools/registry.js'
import { type Agent, isAgent } from './agent.js'
import { problemOfDoneCheck } from './done-check.js'
import { namesOfSubagents, startsClones, subagentOf } from './subagents.js'

/** The agents of a worker. Immutable. */
export interface Agents {
  readonly names: readonly string[]
  /** @returns undefined for an unknown name */
  get(name: string): Agent | undefined
  /** @throws PtcError AGENT_UNKNOWN */
  require(name: string): Agent
}

/**
 * Checks agents against the tools of their configuration, and against each other.
 *
 * @param registry with the tools of `subagents`
 * @throws PtcError AGENT_DUPLICATE, AGENT_UNKNOWN, TOOL_UNKNOWN; CONFIG_INVALID for an object that is not from
 *   defineAgent, for an agent that could start itself, and for a tool that can't check whether the work is done
 */
export function createAgents(agents: readonly unknown[], registry: ToolRegistry): Agents {
  const byName = new Map<string, Agent>()
  for (const [index, agent] of agents.entries()) {
    if (!isAgent(agent)) {
      throw new PtcError('CONFIG_INVALID', `agents[${index}] is not an agent`, {
        hint: 'Make it with defineAgent({ … }).',
      })
    }
    if (byName.has(agent.name)) {
      throw new PtcError('AGENT_DUPLICATE', `two agents are named ${agent.name}`, {
        hint: 'Rename or remove one of them.',
      })
    }
    checkAgentTools(agent, registry)
    checkDoneCheck(agent, registry)
    byName.set(agent.name, agent)
  }
  const names = Object.freeze([...byName.keys()])
  const created: Agents = Object.freeze({
    names,
    get: (name: string) => byName.get(name),
    require: (name: string) => byName.get(name) ?? unknownAgent(name, names),
  })
  checkSubagents(created)
  return created
}

/**
 * Names of the tools of an agent, including those that start its sub-agents. A run without an agent has all tools, and
 * no sub-agents.
 *
 * @param registry with the tools of `subagents`
 */
export function toolNamesOf(registry: ToolRegistry, agent: Agent | undefined): readonly string[] {
  const own = agent?.tools?.map(nameOf) ?? registry.names.filter((name) => !isSubagent(registry, name))
  return [...own, ...(agent ? namesOfSubagents(agent) : [])]
}

/**
 * Names of the tools without those that start clones: for a clone, and for a run without a model of its own. So no clone
 * starts another one.
 */
export function withoutClones(registry: ToolRegistry, names: readonly string[]): readonly string[] {
  return names.filter((name) => {
    const tool = registry.get(name)
    return tool === undefined || !startsClones(tool)
  })
}

/** The names of the tools that agents name. Checks nothing: `createAgents` does. */
export function toolsNamedBy(agents: readonly unknown[]): readonly string[] {
  return agents.flatMap((agent) => (isAgent(agent) ? (agent.tools ?? []).map(nameOf) : []))
}

function nameOf(named: string | { readonly name: string }): string {
  return typeof named === 'string' ? named : named.name
}

/** Whether the tool is an agent of the configuration. A tool that starts clones is a tool like any other. */
function isSubagent(registry: ToolRegistry, name: string): boolean {
  const tool = registry.get(name)
  return tool !== undefined && subagentOf(tool)?.name !== undefined
}

function checkAgentTools(agent: Agent, registry: ToolRegistry): void {
  const names = agent.tools?.map(nameOf) ?? []
  within(agent, 'tools', () => registry.subset(names))
  const subagent = names.find((name) => isSubagent(registry, name))
  if (subagent !== undefined) {
    throw new PtcError('CONFIG_INVALID', `agent ${agent.name}: ${subagent} is an agent and not a tool`, {
      hint: 'Name it in `agents`.',
    })
  }
  for (const tool of agent.tools ?? [])
    if (typeof tool !== 'string' && registry.get(tool.name) !== tool) throw differs(agent, 'tool', tool.name)
}

/**
 * Checks that every sub-agent is an agent of the configuration, and that no agent can start itself, directly or through
 * others.
 */
function checkSubagents(agents: Agents): void {
  const check = (agent: Agent, path: readonly Agent[]): void => {
    if (path.includes(agent)) {
      const cycle = [...path.slice(path.indexOf(agent)), agent].map(({ name }) => name).join(' starts ')
      throw new PtcError('CONFIG_INVALID', `an agent can't start itself: ${cycle}`, {
        hint: 'Remove one of them from the `agents` of the other.',
      })
    }
    for (const subagent of agent.agents) {
      const found = within(agent, 'agents', () => agents.require(nameOf(subagent)))
      if (typeof subagent !== 'string' && found !== subagent) throw differs(agent, 'agent', found.name)
      check(found, [...path, agent])
    }
  }
  for (const name of agents.names) check(agents.require(name), [])
}

/** Adds the name of the agent to an error. */
function within<Result>({ name }: Agent, field: 'tools' | 'agents', look: () => Result): Result {
  try {
    return look()
  } catch (thrown) {
    if (!PtcError.isInstance(thrown)) throw thrown
    const hint = `Add the ${field === 'tools' ? 'tool' : 'agent'} to \`${field}\`.`
    throw new PtcError(thrown.code, `agent ${name}: ${thrown.message}`, { hint })
  }
}

function differs(agent: Agent, what: 'tool' | 'agent', name: string): PtcError {
  return new PtcError('CONFIG_INVALID', `agent ${agent.name} has another ${what} ${name} than the configuration`, {
    hint: `Use the ${what} of the configuration, or its name.`,
  })
}

function checkDoneCheck(agent: Agent, registry: ToolRegistry): void {
  const { name, doneCheck } = agent
  if (doneCheck === undefined) return
  const tool = registry.get(doneCheck)
  const names = toolNamesOf(registry, agent)
  if (!tool || !names.includes(doneCheck)) {
    throw new PtcError('TOOL_UNKNOWN', `agent ${name} has no tool ${doneCheck}${didYouMean(doneCheck, names)}`, {
      hint: 'The tool of `doneCheck` is one of the tools of the agent.',
    })
  }
  const problem = problemOfDoneCheck(tool)
  if (problem !== undefined) throw new PtcError('CONFIG_INVALID', `agent ${name}: doneCheck ${doneCheck} ${problem}`)
}

function unknownAgent(name: string, names: readonly string[]): never {
  const known = names.length === 0 ? 'The configuration has no agents.' : `There are: ${names.join(', ')}.`
  throw new PtcError('AGENT_UNKNOWN', `there is no agent named ${JSON.stringify(name)}${didYouMean(name, names)}`, {
    hint: known,
  })
}
