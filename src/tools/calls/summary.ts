import type { JsonObject } from '../../common/json/json.js'
import type { Redact } from '../../common/text/redact.js'
import { invisibleCharacters, showCodePoint, toPlainLine } from '../../common/text/text.js'
import { truncate } from '../validation/describe-issues.js'
import type { Tool } from '../tool.js'

const maxSummaryCharacters = 200
const maxValueCharacters = 40

/**
 * The summary of a call, in the form that people may see.
 *
 * @param valid the tool and its parsed input. Without it, the summary is the default one: the name of the tool and its
 *   scalar arguments, as in `get_expenses ENG001 Q3`.
 */
export function summarizeCall(
  redactor: { readonly redact: Redact },
  { tool, arguments: args }: { readonly tool: string; readonly arguments: JsonObject },
  valid?: ValidInput,
): string {
  const summary = (valid && summarizeInput(valid)) ?? summarizeArguments(tool, args)
  return redactSummary(redactor, tool, summary)
}

interface ValidInput {
  readonly tool: Tool
  readonly input: Readonly<Record<string, unknown>>
}

/** The tool's own summary. Undefined if the tool has none, or its function throws or returns no text. */
function summarizeInput({ tool, input }: ValidInput): string | undefined {
  try {
    const custom: unknown = tool.summarize?.(input)
    return (typeof custom === 'string' && oneLine(custom)) || undefined
  } catch {
    return undefined // a summary is informational: an error in it must not fail the call
  }
}

function summarizeArguments(name: string, args: JsonObject): string {
  const words = [truncate(name, 64)]
  let length = 0
  for (const key in args) {
    if (!Object.hasOwn(args, key)) continue
    const value = args[key]
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      words.push(truncate(String(value), maxValueCharacters))
    length += words.at(-1)?.length ?? 0
    if (length > maxSummaryCharacters || words.length > maxSummaryCharacters) break
  }
  return oneLine(words.join(' '))
}

/** A text about a call in the form that people may see. */
export function redactSummary({ redact }: { readonly redact: Redact }, tool: string, summary: string): string {
  return oneLine(redact(summary, { kind: 'arguments', tool }))
}

function oneLine(text: string): string {
  // The inner truncation bounds the work on hostile text. A person who approves a call must see a character that is
  // invisible, or that changes the direction of a text.
  const shown = truncate(text, maxSummaryCharacters * 10).replaceAll(invisibleCharacters, showCodePoint)
  return truncate(toPlainLine(shown), maxSummaryCharacters)
}
