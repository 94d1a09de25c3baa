import type { JsonObject } from '../../common/json/json.js'
import { codeExecutionTool } from '../../common/agent/hosted-code.js'
import type { ToolDocumentation } from '../../tools/documentation/document-tools.js'
import type { Prompt, PromptOptions } from './prompt.js'
import type { ModelTool } from '../provider.js'
import { taskPrompt } from './task-tools.js'

/**
 * System prompt and tools of a run whose code the API executes. The API itself describes its tool for code, and shows
 * the other tools to the code.
 */
export function hostedPrompt({ tools, instructions, outputSchema, mode }: PromptOptions): Prompt {
  const task = taskPrompt(mode, outputSchema)
  return {
    system: [instructions?.trim(), guidance, task.guidance].filter(Boolean).join('\n\n'),
    tools: [...tools.map(toHostedTool), ...task.taskTools],
  }
}

const guidance = `\
You can run Python with ${codeExecutionTool}. Use it for anything that takes several tool calls, loops, or large results: \
write one program that makes the calls, works on their results, and prints only what you need.

- A tool resolves to a text. Parse it: \`json.loads(await tool({"name": "value"}))\`. A result that is text is no JSON.
- The text of a call that failed begins with its status: [tool_error], [invalid_arguments], [denied], [timed_out] or \
[outcome_unknown]. After [outcome_unknown] the call may or may not have happened: find out before you repeat it.
- Code waits about 4 minutes for a result. Call slow tools directly, if you can.`

function toHostedTool({ name, description, inputSchema, inputExamples, ...rest }: ToolDocumentation): ModelTool {
  const allowedCallers = isRecursive(inputSchema) ? (['direct'] as const) : rest.allowedCallers
  const result = allowedCallers.includes('code_execution') ? resultTypeOf(rest.stub) : undefined
  return {
    name,
    description: result === undefined ? description : `${description}\n\nThe result, in Python types:\n${result}`,
    inputSchema,
    inputExamples,
    allowedCallers,
  }
}

/** Whether a schema is recursive. The API refuses such a schema for code. */
export function isRecursive(inputSchema: JsonObject): boolean {
  const text = JSON.stringify(inputSchema)
  const { $defs: definitions = {} } = inputSchema
  if (text.includes('"$ref":"#"')) return true
  const referencesOf = (value: unknown): string[] =>
    [...JSON.stringify(value).matchAll(/"\$ref":"#\/\$defs\/([^"]*)"/g)].map(([, name = '']) => name)
  const graph = new Map(Object.entries(definitions as JsonObject).map(([name, value]) => [name, referencesOf(value)]))
  const reaches = (from: string, target: string, seen: Set<string>): boolean =>
    (graph.get(from) ?? []).some((next) => {
      if (next === target) return true
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(next, target, seen)
    })
  return [...graph.keys()].some((name) => reaches(name, name, new Set()))
}

/** The classes that the stub declares, and the return type of its function. */
function resultTypeOf(stub: string): string | undefined {
  const [classes = '', definition = ''] = stub.split(/^(?=async def )/m)
  const returned = /\) -> (.*):$/m.exec(definition)?.[1]
  if (returned === undefined) return undefined
  return [classes.trim(), returned].filter((part) => part !== '').join('\n\n')
}
