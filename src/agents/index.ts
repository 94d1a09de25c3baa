/*
 * Agents: named instructions with tools, a model, limits and a schema of the answer.
 *
 * Boundary: knows tools and their registry; no Temporal, no model, no run. Activity `run.config` resolves the agent of
 * a run, and the run records the result.
 *
 * Invariants:
 * 1. An agent is immutable, and is checked when it is defined. Its tools are checked with the configuration.
 * 2. The schema of an answer describes the data that the model sends (the input side of the zod schema). The client
 *    applies defaults and transforms.
 * 3. A sub-agent is a tool of the registry, with the name of its agent. Only agents that name it have that tool, and no
 *    agent can start itself, directly or through others.
 * 4. A clone of an agent has the tools of the run that starts it, and none that starts clones.
 */

export { defineAgent } from './define-agent.js'
export { type Agents, createAgents, toolNamesOf, toolsNamedBy, withoutClones } from './agents.js'
export { subagents } from './subagents.js'
export { doneCheckArguments } from './done-check.js'
export { type Agent, type AgentDefinition, type AgentSession, isAgent } from './agent.js'
