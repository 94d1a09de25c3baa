import { isJsonObject } from '../common/json/json.js'
import { type AssistantBlock, isTextBlock, isToolUseBlock } from '../common/runs/messages.js'

/**
 * The tool that a reply calls in its text, if the whole text is such a call, because the server of the model has no
 * parser for its tool calls. Undefined for an answer.
 *
 * @param tools names of the tools of the run
 */
export function textCallOf(content: readonly AssistantBlock[], tools: ReadonlySet<string>): string | undefined {
  if (content.some(isToolUseBlock)) return undefined
  const text = content
    .filter(isTextBlock)
    .map((block) => block.text)
    .join('')
    .replace(/^\s*<think>[\s\S]*?<\/think>/, '')
    .trim()
  return layersOf(text)
    .flatMap((layer) => calledInJson(layer) ?? calledInMarkup(layer) ?? calledInPython(layer) ?? [])
    .find((name) => tools.has(name))
}

/** The text, and the text without code fences, tags such as `<tool_call>`, and tokens such as `[TOOL_CALLS]`. */
function layersOf(text: string): readonly string[] {
  const layers = [text]
  while (layers.length <= maxWrappers) {
    const inner = withoutWrapper(layers.at(-1) ?? '')
    if (inner === layers.at(-1)) break
    layers.push(inner)
  }
  return layers
}

const maxWrappers = 4

function withoutWrapper(text: string): string {
  const fenced = /^```\w*\n([\s\S]*?)\n?```$/.exec(text)?.[1]
  if (fenced !== undefined) return fenced.trim()
  const opening = /^(?:<[|/]?(?:tool|function|python)[^<>\n=]{0,60}>|\[TOOL_CALLS?\])\s*/i.exec(text)?.[0] ?? ''
  return text
    .slice(opening.length)
    .replace(/<[|/]{1,2}(?:tool|function|python|eom|eot)[^<>\n]{0,60}>$/i, '')
    .trim()
}

const argumentMembers = ['arguments', 'parameters', 'args', 'input', 'tool_input', 'tool_arguments']

/** The tool that is called by `{"name": "…", "arguments": {…}}` and similar forms, or by a list of one. */
function calledInJson(text: string): string | undefined {
  if (!/^[{[]/.test(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const outer: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (!isJsonObject(outer)) return undefined
  const call = isJsonObject(outer['function']) ? outer['function'] : outer
  const name = call['name'] ?? call['tool'] ?? call['tool_name'] ?? call['function'] ?? call['recipient_name']
  // A person or a product may have the name of a tool.
  const isCall = !('name' in call) || argumentMembers.some((member) => member in call)
  return isCall && typeof name === 'string' ? name.replace(/^functions\./, '') : undefined
}

/** The tool that is called by `<function=NAME>…</function>`, `<invoke name="NAME">…</invoke>` or `<NAME>…</NAME>`. */
function calledInMarkup(text: string): string | undefined {
  const [, tag, byEquals, byName] = /^<([\w:-]+)(?:=([\w.-]+)|\s+name="([\w.-]+)")?\s*>/.exec(text) ?? []
  if (tag === undefined || !text.endsWith('>')) return undefined
  const end = text.lastIndexOf('</')
  return text.slice(end) === `</${tag}>` ? (byEquals ?? byName ?? tag) : undefined
}

/** The tool that is called by `[NAME(key=…)]`, the form in which models write Python calls. */
function calledInPython(text: string): string | undefined {
  return /^\[?([A-Za-z_]\w*)\(\s*(?:[A-Za-z_]\w*\s*=[\s\S]*)?\)\]?$/.exec(text)?.[1]
}
