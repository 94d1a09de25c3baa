import { defined } from '../../common/defined.js'
import type { JsonObject } from '../../common/json/json.js'
import { defaultLanguage, type HostedLanguage } from '../../languages/index.js'
import type { ToolDocumentation } from '../../tools/documentation/document-tools.js'
import type { Prompt, PromptOptions } from './prompt.js'
import type { ModelTool } from '../provider.js'
import { describeSkills, skillTools } from './skill-tools.js'
import { taskPrompt } from './task-tools.js'

/**
 * System prompt and tools of a run whose code the API executes. The API itself describes its tool for code, and shows
 * the other tools to the code.
 */
export function hostedPrompt(options: PromptOptions): Prompt {
  const { tools, instructions, skills, outputSchema, mode, language: { hosted } = defaultLanguage } = options
  const task = taskPrompt(mode, outputSchema)
  return {
    system: [instructions?.trim(), describeSkills(skills), hosted?.guidance, task.guidance]
      .filter(Boolean)
      .join('\n\n'),
    tools: [...tools.map((tool) => toHostedTool(tool, hosted)), ...skillTools(skills), ...task.taskTools],
  }
}

function toHostedTool(tool: ToolDocumentation, hosted: HostedLanguage | undefined): ModelTool {
  const { name, description, inputSchema, inputExamples, nativeType } = tool
  const allowedCallers = isRecursive(inputSchema) ? (['direct'] as const) : tool.allowedCallers
  const result = allowedCallers.includes('code_execution') ? hosted?.describeResult(tool.stub) : undefined
  return {
    name,
    description: result === undefined ? description : `${description}\n\n${result}`,
    inputSchema,
    inputExamples,
    allowedCallers,
    ...defined({ nativeType }),
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
