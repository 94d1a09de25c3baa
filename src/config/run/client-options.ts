import { executeCodeTool, readMoreTool, searchToolsTool, taskTools } from '../../common/names.js'
import type { RunConfigInput } from '../../common/run/runs.js'

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
