import { parse } from 'yaml'
import { messageOf, PtcError } from '../../common/errors.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { isJsonObject } from '../../common/json/json.js'
import { pluralize } from '../../common/text/text.js'
import type { EvalTask } from './load-tasks.js'

/** The name of the script that solves a task. */
export const solutionScript = 'solution'

/** Names of the scripts that all of these tasks have. */
export function scriptNames(tasks: readonly EvalTask[]): readonly string[] {
  const [first, ...others] = tasks.map(({ scripts }) => Object.keys(scripts))
  return (first ?? []).filter((name) => others.every((names) => names.includes(name)))
}

/**
 * The script of the scripted model for tasks: the conversations of their files. A conversation without `match` is for
 * the question of its task.
 *
 * @throws PtcError EVAL_TASK_INVALID
 */
export function scriptOf(tasks: readonly EvalTask[], name: string): JsonObject {
  const problems: string[] = []
  const conversations = tasks.flatMap((task) => {
    const file = task.scripts[name]
    if (file === undefined) {
      problems.push(`task ${task.name} has no script ${name}`)
      return []
    }
    try {
      return conversationsOf(toJson(task.texts.get(file) ?? ''), task)
    } catch (thrown) {
      problems.push(`task ${task.name}: ${file}: ${messageOf(thrown)}`)
      return []
    }
  })
  // A question for a judge or a sub-agent may contain the question of the task.
  const ordered = [...conversations.filter(({ isOwn }) => isOwn), ...conversations.filter(({ isOwn }) => !isOwn)]
  if (problems.length === 0) return { conversations: ordered.map(({ conversation }) => conversation) }
  const message = `the scripts have ${pluralize(problems.length, 'problem')}:\n${problems.join('\n')}`
  throw new PtcError('EVAL_TASK_INVALID', message, { hint: 'docs/guides/evals.md describes scripts.' })
}

/** A conversation of a script, and whether its file says by itself which one it is for. */
interface TaskConversation {
  readonly conversation: JsonObject
  readonly isOwn: boolean
}

function conversationsOf(script: JsonValue, task: EvalTask): readonly TaskConversation[] {
  const match = { firstUserText: { includes: firstText(task) } }
  if (Array.isArray(script)) return [{ conversation: { match, turns: script as readonly JsonValue[] }, isOwn: false }]
  const conversations = isJsonObject(script) ? script['conversations'] : undefined
  if (!Array.isArray(conversations)) throw new Error('a script is an array of turns, or { conversations }')
  return (conversations as readonly JsonValue[]).map((each) => {
    if (!isJsonObject(each)) throw new Error('a conversation is an object')
    return 'match' in each ? { conversation: each, isOwn: true } : { conversation: { match, ...each }, isOwn: false }
  })
}

/** The text of the first message of the conversation with the model. */
function firstText({ setup, prompt }: EvalTask): string {
  return setup.history?.find(({ role }) => role === 'user')?.content ?? [prompt].flat()[0] ?? ''
}

/** A script is YAML, of which JSON is a part. */
function toJson(text: string): JsonValue {
  return JSON.parse(JSON.stringify(parse(text, { schema: 'core', maxAliasCount: 100 }) ?? null)) as JsonValue
}
