import type { Caller } from './calls.js'
import type { JsonObject } from '../json/json.js'
import { executeCodeTool, readMoreTool, searchToolsTool, taskTools } from '../names.js'
import type { RunConfigInput } from '../run/runs.js'

/**
 * A tool that the client of a conversation defines as data. No worker runs it: a call waits until the client sends its
 * result, which is a text.
 */
export interface ClientTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, which are an object. */
  readonly inputSchema: JsonObject
  readonly inputExamples?: readonly JsonObject[]
  readonly allowedCallers: readonly Caller[]
}

/** Milliseconds that a call waits for its result. */
export const clientCallExpiresMs = 7 * 24 * 60 * 60 * 1_000

/**
 * The limits of the client tools of a conversation. `schemaParts` limits all schemas together, with their references
 * replaced. `examples` limits one tool.
 */
export const clientToolLimits = { count: 100, bytes: 256 * 1_024, schemaParts: 10_000, examples: 100 } as const

/** Returns why a run refuses the options of its client; undefined when it accepts them. */
export function problemOfClientOptions(options: RunConfigInput): string | undefined {
  const { clientTools, isPlain = false, outputSchema, toolChoice } = options
  if (isPlain && !clientTools) return 'isPlain needs clientTools'
  if (toolChoice && !isPlain) return 'toolChoice needs isPlain: with code, the model decides about its tools'
  const reserved = [...(isPlain ? [] : codeTools), ...(isPlain && !outputSchema ? [] : taskTools)]
  const taken = clientTools?.find(({ name }) => reserved.includes(name))
  if (taken) return `no client tool can have the name ${taken.name}: it is that of a tool of the engine`
  const names = clientTools?.map(({ name }) => name) ?? []
  if (toolChoice?.type !== 'tool' || names.includes(toolChoice.name)) return undefined
  return `toolChoice: there is no tool ${JSON.stringify(toolChoice.name)}`
}

const codeTools: readonly string[] = [executeCodeTool, readMoreTool, searchToolsTool]
