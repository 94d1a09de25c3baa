import type { JsonObject } from '../common/json.js'
import { plainLine } from '../common/text.js'
import { cut } from './issues.js'
import type { Tool } from './tool.js'

const summaryCharacters = 200
const valueCharacters = 40

/** The tool's own summary of a valid input, or the plain one when it has none, throws, or says nothing. */
export function summarizeInput(tool: Tool, input: Readonly<Record<string, unknown>>, args: JsonObject): string {
  try {
    const own: unknown = tool.summarize?.(input)
    const line = typeof own === 'string' ? oneLine(own) : ''
    if (line !== '') return line
  } catch {
    // A summary is only for people: a broken one must not cost the call.
  }
  return summarizeArguments(tool.name, args)
}

/** The name and the short values of a call that may be anything: `get_expenses ENG001 Q3`. */
export function summarizeArguments(name: string, args: JsonObject): string {
  const words = [cut(name, 64)]
  let length = 0
  for (const key in args) {
    if (!Object.hasOwn(args, key)) continue
    const value = args[key]
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      words.push(cut(String(value), valueCharacters))
    length += words.at(-1)?.length ?? 0
    if (length > summaryCharacters || words.length > summaryCharacters) break
  }
  return oneLine(words.join(' '))
}

function oneLine(text: string): string {
  // What is cut away here could only have become spaces or fallen out of the line.
  return cut(plainLine(cut(text, summaryCharacters * 10)), summaryCharacters)
}
