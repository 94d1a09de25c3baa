import { digestOf } from '../common/call-key.js'
import { PtcError } from '../common/errors.js'
import type { JsonValue } from '../common/json.js'
import type { ToolPlan } from '../common/plan.js'
import { documentAlone, documentTools } from './documentation.js'
import type { ToolDocumentation } from './documentation.js'
import { parametersOf } from './python-stub.js'
import { isTool } from './tool.js'
import type { Tool } from './tool.js'

/** What the program in a sandbox knows of a tool. */
export interface ToolCallSignature {
  readonly name: string
  /** Required ones first: the order of positional arguments, as in the stub. */
  readonly parameters: readonly string[]
  readonly required: readonly string[]
  readonly documentation: string
}

/** The tools of a worker. Immutable; names are only ever looked up in a Map, so `constructor` is simply unknown. */
export interface ToolRegistry {
  readonly names: readonly string[]
  get(name: string): Tool | undefined
  /** What a workflow must know. */
  plans(): readonly ToolPlan[]
  /** What a model is told. */
  documentation(): readonly ToolDocumentation[]
  /** What code is given: only the tools that code may call. */
  signatures(): readonly ToolCallSignature[]
  /** Digest of documentation and signatures: two registries with the same digest describe the same tools. */
  readonly digest: string
}

/** @throws PtcError TOOL_DUPLICATE; CONFIG_INVALID for something that defineTool did not make. */
export function createRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map<string, Tool>()
  for (const [index, tool] of tools.entries()) {
    if (!isTool(tool)) {
      throw new PtcError('CONFIG_INVALID', `tools[${index}] is not a tool`, { hint: 'Make it with defineTool({ … }).' })
    }
    if (byName.has(tool.name)) {
      throw new PtcError('TOOL_DUPLICATE', `two tools are named ${tool.name}`, {
        hint: 'Rename or remove one of them.',
      })
    }
    byName.set(tool.name, tool)
  }
  const all = Object.freeze([...byName.values()])
  const plans = all.map(({ name, allowedCallers, effect, timeoutMs, attempts, inputSchema }) => ({
    name,
    allowedCallers,
    effect,
    timeoutMs,
    attempts,
    inputDigest: digestOf(inputSchema),
  }))
  const documentation = documentTools(all)
  const signatures = all.filter(({ allowedCallers }) => allowedCallers.includes('code_execution')).map(signatureOf)
  return Object.freeze({
    names: Object.freeze([...byName.keys()]),
    get: (name: string) => byName.get(name),
    plans: () => plans,
    documentation: () => documentation,
    signatures: () => signatures,
    digest: digestOf([documentation, signatures] as unknown as JsonValue),
  })
}

function signatureOf(tool: Tool): ToolCallSignature {
  const parameters = parametersOf(tool.inputSchema)
  return {
    name: tool.name,
    parameters: parameters.map(({ name }) => name),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    documentation: documentAlone(tool),
  }
}
