import { canonicalJson } from '../../common/json/canonical-json.js'
import { isJsonObject, type JsonValue } from '../../common/json/json.js'
import { truncateMiddle } from '../../common/text/text.js'
import { interruptAfter } from '../../tools/validation/time-limit.js'
import type { ObservedRun } from '../samples/observed-run.js'
import type { Check } from '../tasks/task-schema.js'
import { failed, passed, type Verdict } from './verdict.js'

/**
 * Evaluates a condition that needs no model, no module and no sandbox. Undefined: the condition is of another kind.
 */
export function declaredCheck(check: Check, run: ObservedRun): Verdict | undefined {
  if (check.calls !== undefined) return checkCalls(check.calls, run)
  const value = valueOf(check, run)
  if (value === undefined) return isDeclared(check) ? failed(`there is no value at ${placeOf(check)}`) : undefined
  const shown = show(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (check.equals !== undefined)
    return isEqual(value, check.equals) ? passed : failed(`${shown} is not ${show(check.equals)}`)
  if (check.contains !== undefined) {
    const missing = [check.contains].flat().find((each) => !text.toLowerCase().includes(each.toLowerCase()))
    return missing === undefined ? passed : failed(`${shown} does not contain ${show(missing)}`)
  }
  if (check.excludes !== undefined) {
    const found = [check.excludes].flat().find((each) => text.toLowerCase().includes(each.toLowerCase()))
    return found === undefined ? passed : failed(`${shown} contains ${show(found)}`)
  }
  if (check.matches !== undefined)
    return matches(check.matches, text) ? passed : failed(`${shown} does not match ${check.matches}`)
  if (check.includesJson !== undefined) {
    const problem = missingIn(value, check.includesJson, '')
    return problem === undefined ? passed : failed(problem)
  }
  if (check.number !== undefined) return checkNumber(value, check.number)
  return undefined
}

const declaredKinds = ['equals', 'contains', 'excludes', 'matches', 'includesJson', 'number'] as const

function isDeclared(check: Check): boolean {
  return declaredKinds.some((kind) => check[kind] !== undefined)
}

/** The checked value. JSON conditions read the output when there is one, and else a JSON text of the answer. */
function valueOf(check: Check, { answer, output }: ObservedRun): JsonValue | undefined {
  const wantsJson = check.path !== '' || check.includesJson !== undefined || isStructured(check.equals)
  const whole = check.target === 'output' ? output : check.target === 'answer' ? answer : (output ?? answer)
  if (whole === undefined) return undefined
  const json = wantsJson && typeof whole === 'string' ? parseJsonText(whole) : whole
  return json === undefined ? undefined : valueAt(json, check.path)
}

/** A pattern may take hours for a text that a model wrote. @throws TimeLimitError */
function matches(pattern: string, text: string): boolean {
  return interruptAfter(() => new RegExp(pattern, 'u').test(text))
}

function isStructured(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null
}

/** The JSON of an answer, which may be in a code fence. */
function parseJsonText(text: string): JsonValue | undefined {
  const fenced = /```(?:json)?\s*\n([^]*?)```/.exec(text)?.[1]
  for (const candidate of [text, fenced]) {
    if (candidate === undefined) continue
    try {
      return JSON.parse(candidate) as JsonValue
    } catch {
      // The next candidate may be JSON.
    }
  }
  return undefined
}

function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  let current: JsonValue | undefined = value
  for (const key of path === '' ? [] : path.split('.')) {
    if (Array.isArray(current)) current = (current as readonly JsonValue[])[Number(key)]
    else current = isJsonObject(current) && Object.hasOwn(current, key) ? current[key] : undefined
  }
  return current
}

function placeOf({ target, path }: Check): string {
  const whole = target ?? 'the answer'
  return path === '' ? whole : `${whole}.${path}`
}

function isEqual(value: JsonValue, expected: JsonValue): boolean {
  if (typeof value === 'string' && typeof expected === 'string') return value.trim() === expected.trim()
  // A text answer `42` is the number 42.
  if (typeof value === 'string' && !isStructured(expected)) return value.trim() === JSON.stringify(expected)
  return canonicalJson(value) === canonicalJson(expected)
}

/** The first place at which `value` lacks something of `expected`. */
function missingIn(value: JsonValue | undefined, expected: JsonValue, path: string): string | undefined {
  const at = path === '' ? 'the value' : path
  if (Array.isArray(expected)) {
    const members = expected as readonly JsonValue[]
    if (!Array.isArray(value) || value.length !== members.length)
      return `${at} is ${show(value)}, not a list of ${members.length}`
    const items = value as readonly JsonValue[]
    return firstOf(members.map((each, index) => missingIn(items[index], each, join(path, String(index)))))
  }
  if (isJsonObject(expected)) {
    if (!isJsonObject(value)) return `${at} is ${show(value)}, not an object`
    const members = Object.entries(expected)
    return firstOf(
      members.map(([key, each]) =>
        missingIn(Object.hasOwn(value, key) ? value[key] : undefined, each, join(path, key)),
      ),
    )
  }
  if (value !== undefined && isEqual(value, expected)) return undefined
  return `${at} is ${show(value)}, not ${show(expected)}`
}

function firstOf(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((each) => each !== undefined)
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function checkNumber(value: JsonValue, expected: { readonly value: number; readonly tolerance: number }): Verdict {
  const number = typeof value === 'number' ? value : typeof value === 'string' ? lastNumber(value) : undefined
  if (number === undefined) return failed(`${show(value)} has no number`)
  // The error of one subtraction of doubles is not an error of the answer.
  const slack = expected.tolerance + 4 * Number.EPSILON * Math.max(Math.abs(number), Math.abs(expected.value))
  if (Math.abs(number - expected.value) <= slack) return passed
  return failed(`${number} is not ${expected.value} (± ${expected.tolerance})`)
}

/** The last number of a text: `1,234.50` with separators of thousands, `-3e4`. */
function lastNumber(text: string): number | undefined {
  const found = text.match(/-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)
  const last = found?.at(-1)
  return last === undefined ? undefined : Number(last.replaceAll(',', ''))
}

function checkCalls({ tool, status, min, max }: NonNullable<Check['calls']>, { calls }: ObservedRun): Verdict {
  const count = calls.filter((call) => call.tool === tool && (status === undefined || call.status === status)).length
  const what = `${tool}${status === undefined ? '' : ` with status ${status}`}`
  const least = min ?? (max === undefined ? 1 : 0)
  if (count < least) return failed(`${count} calls of ${what}, not at least ${least}`)
  if (max !== undefined && count > max) return failed(`${count} calls of ${what}, not at most ${max}`)
  return passed
}

function show(value: JsonValue | undefined): string {
  return value === undefined ? 'missing' : truncateMiddle(JSON.stringify(value), 200)
}
