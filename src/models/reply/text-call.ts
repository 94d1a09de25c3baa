import { isJsonObject } from '../../common/json/json.js'
import { executeCodeTool } from '../../common/names.js'
import { type AssistantBlock, isTextBlock, isToolUseBlock } from '../../common/agent/messages.js'
import { isWithinBrackets } from '../../common/text/brackets.js'
import { languages } from '../../languages/index.js'

/**
 * The tool that a reply calls in its text, if the whole text consists of calls: the server of the model has no parser
 * for its tool calls. Undefined for an answer. The time is linear in the length of the text.
 *
 * @param tools names of the tools of the run
 */
export function textCallOf(content: readonly AssistantBlock[], tools: ReadonlySet<string>): string | undefined {
  if (content.some(isToolUseBlock)) return undefined
  const text = content
    .filter(isTextBlock)
    .map((block) => block.text)
    .join('')
  const known = (name: string): string => (tools.has(name) ? name : bareName(name))
  return [text, withoutThinking(text)]
    .flatMap((said) => layersOf(said.replaceAll('｜DSML｜', '').trim()))
    .flatMap((layer) => formats.map((read) => read(layer).map(known)))
    .find((names) => names.length > 0 && names.every((name) => tools.has(name)))?.[0]
}

/** The text after the thinking. The template of a model may have begun that in the prompt. */
function withoutThinking(text: string): string {
  const end = /<\/think(?:ing)?>|\[\/THINK\]|<\|END_THINKING\|>|<\|end\|>/.exec(text)
  return end === null ? '' : text.slice(end.index + end[0].length)
}

/** A text, or what is left of it without the markup around it. */
interface Layer {
  readonly text: string
  /** There was a token before the text with which a model begins a call. */
  readonly isMarked: boolean
}

/**
 * The text, and what is left of it without code fences, tags such as `<tool_call>`, and tokens such as `[TOOL_CALLS]`.
 */
function layersOf(text: string): readonly Layer[] {
  const layers: Layer[] = [{ text, isMarked: false }]
  while (layers.length <= maxWrappers) {
    const outer = layers.at(-1) ?? { text: '', isMarked: false }
    const inner = withoutWrapper(outer)
    if (inner.text === outer.text) break
    layers.push(inner)
  }
  return layers
}

const maxWrappers = 8

/** `<tool_call>`, `<minimax:tool_call>`, `<|tool_call|>`, `<｜tool▁calls▁begin｜>`, `[TOOL_CALLS]`. */
const opening =
  /^(?:<[|/]?(?:\w{1,30}:)?(?:tool|function|python)[^<>\n=(]{0,60}>|<[|｜][^<>\n]{1,60}[|｜]>|\[TOOL_CALLS?\]|functools(?=\[))\s*/i
const closing =
  /^(?:<[|/]{1,2}(?:\w{1,30}:)?(?:tool|function|python|eom|eot)[^<>\n]{0,60}>|<[|｜][^<>\n]{1,60}[|｜]>)$/i

function withoutWrapper({ text, isMarked }: Layer): Layer {
  const fenced = /^```\w*\n([\s\S]*?)\n?```$/.exec(text)?.[1]
  // Two blocks of code have a text between them.
  if (fenced !== undefined && !fenced.includes('\n```')) return { text: fenced.trim(), isMarked }
  const begin = opening.exec(text)?.[0].length ?? 0
  const lastTag = text.lastIndexOf('<')
  const end = lastTag >= begin && closing.test(text.slice(lastTag)) ? lastTag : text.length
  return { text: text.slice(begin, end).trim(), isMarked: isMarked || begin > 0 }
}

/** What can be read as calls: their names. Nothing, if any of the text is something else. */
const formats: readonly ((layer: Layer) => readonly string[])[] = [
  ({ text }) => callsInJson(text),
  ({ text }) => callInMarkup(text),
  ...languages.map(
    (language) =>
      ({ text }: Layer) =>
        language.callsIn(text),
  ),
  callByName,
]

const nameMembers = ['name', 'tool', 'tool_name', 'function', 'recipient_name', 'action']
const argumentMembers = ['arguments', 'parameters', 'args', 'input', 'tool_input', 'tool_arguments', 'action_input']
const codeMembers = [...argumentMembers, 'code']

/** `{"name": "…", "arguments": {…}}` and its relatives, or a list of them. */
function callsInJson(text: string): readonly string[] {
  if (!/^[{[]/.test(text)) return []
  const json = text.endsWith(';') ? text.slice(0, -1).trimEnd() : text
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return callInBrokenJson(json)
  }
  const names = listOfCalls(value).map(calledBy)
  return names.every((name) => name !== undefined) ? names : []
}

function listOfCalls(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isJsonObject(value) || !Array.isArray(value['tool_calls'])) return [value]
  const { tool_calls: calls, role: _, content, ...rest } = value
  // Beside anything else, they are part of an answer.
  return !content && Object.keys(rest).length === 0 ? (calls as readonly unknown[]) : [value]
}

function calledBy(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined
  const call = [value['function'], value['function_call'], value['tool_call']].find(isJsonObject) ?? value
  const member = nameMembers.find((each) => call[each] !== undefined && call[each] !== null)
  const name = member === undefined ? undefined : call[member]
  if (typeof name !== 'string') return undefined
  // A person, a product or a step may have the name of a tool.
  const isClear = member !== 'name' && member !== 'action'
  return isClear || argumentMembersOf(name).some((each) => each in call) ? name : undefined
}

function argumentMembersOf(name: string): readonly string[] {
  return bareName(name) === executeCodeTool ? codeMembers : argumentMembers
}

function bareName(name: string): string {
  return name.replace(/^functions?\./, '')
}

const brokenName = new RegExp(String.raw`["'](?:${nameMembers.join('|')})["']\s*:\s*["']([\w.-]{1,200})["']`)

/** JSON with a line break in a text, with single quotes, or one value after the other. */
function callInBrokenJson(text: string): readonly string[] {
  const name = brokenName.exec(text)?.[1]
  if (name === undefined || !isWithinBrackets(text)) return []
  const members = argumentMembersOf(name).join('|')
  return new RegExp(String.raw`["'](?:${members})["']\s*:`).test(text) ? [name] : []
}

/** `<function=NAME>…</function>`, `<function(NAME)>…`, `<invoke name="NAME">…</invoke>`, `<NAME>…</NAME>`. */
function callInMarkup(text: string): readonly string[] {
  const [, tag, byEquals, byName, inBrackets] =
    /^<([\w:-]+)(?:=([\w.-]+)|\s+name="([\w.-]+)"|\(([\w.-]+)\))?\s*>/.exec(text) ?? []
  if (tag === undefined || !text.endsWith('>')) return []
  const end = text.lastIndexOf('</')
  return text.slice(end) === `</${tag}>` ? [byEquals ?? byName ?? inBrackets ?? tag] : []
}

/** What a call begins with: `functions.NAME:0`, `function<｜tool▁sep｜>NAME`, `commentary to=functions.NAME`. */
const named =
  /^(?:(?:(?:assistant|commentary|analysis|<\|\w{1,20}\|>|\s){0,12}to=)|function<[|｜][^<>\n]{1,60}[|｜]>|call:)?([\w.-]{1,200})(?::\d{1,6})?/

/** Between the name and JSON or a token of the model. */
const afterName = /^(?:\[ARGS\]\s*)?\{|^\s*(?:code|json)?\s*(?:<\||<｜|<arg_key>|\[ARGS\]|\[CALL_ID\]|```|\{)|^$/

/** `NAME{…}`, or a name between tokens of the model: `[TOOL_CALLS]NAME[ARGS]{…}`, `<tool_call>NAME\n<arg_key>…`. */
function callByName({ text, isMarked }: Layer): readonly string[] {
  const [begin, name] = named.exec(text) ?? []
  if (begin === undefined || name === undefined) return []
  const rest = text.slice(begin.length)
  const isCall = isMarked || begin.includes('to=') ? afterName.test(rest) : /^(?:\[ARGS\])?\{/.test(rest)
  return isCall && (rest === '' || /[}>`]/.test(text.slice(-1))) ? [name] : []
}
