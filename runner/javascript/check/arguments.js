/* Mistakes in the arguments of one call of a tool. */
'use strict'
const { describeMissing, describeParameters } = require('../program/tools.js')

const MAXIMUM_CANDIDATES = 2_000 // names among which the nearest one is looked for
const MAXIMUM_NAME_CHARACTERS = 100

/** Returns what the tool would refuse, as texts. Nothing of arguments that are not known. */
function problemsOfArguments({ arguments: given }, signature) {
  const { name, parameters, required, open } = signature
  if (given.some(({ type }) => type === 'SpreadElement')) return []
  const [input] = given
  if (given.length > 1 || (input && isNoObject(input)))
    return [`TypeError: ${name}() takes one object with its arguments: ${describeParameters(signature)}`]
  if (input && input.type !== 'ObjectExpression') return []
  const members = input?.properties ?? []
  if (members.some(({ type, computed }) => type === 'SpreadElement' || computed)) return []
  const passed = new Set(members.filter(({ value }) => value.name !== 'undefined').map(({ key }) => keyOf(key)))
  if (passed.has('toJSON') || passed.has('__proto__')) return []
  const missing = required.filter((parameter) => !passed.has(parameter))
  const unknown = members
    // A member that is undefined is not sent.
    .filter(({ value }) => missing.length > 0 || !mayBeUndefined(value))
    .map(({ key }) => keyOf(key))
    .filter((parameter) => !open && !parameters.includes(parameter))
  return [
    ...(missing.length > 0 ? [`TypeError: ${describeMissing(signature, missing)}`] : []),
    ...unknown.map((parameter) => {
      const near = nearest(parameter, parameters)
      const hint = near === undefined ? '' : ` Did you mean ${near}?`
      return `${name}() has no argument "${parameter}"; it takes ${describeParameters(signature)}.${hint}`
    }),
  ]
}

/** The name of a member. */
function keyOf({ name, value }) {
  return name ?? String(value)
}

function mayBeUndefined({ type }) {
  return !/^(Literal|TemplateLiteral|ArrayExpression|ObjectExpression)$/.test(type)
}

/** Values that are no object with arguments. Of a text or number, not even JSON is. */
function isNoObject({ type, regex }) {
  return (type === 'Literal' && !regex) || type === 'TemplateLiteral' || type === 'ArrayExpression'
}

/** Returns the candidate that is most like the name, if one is. */
function nearest(name, candidates) {
  if (name.length > MAXIMUM_NAME_CHARACTERS) return undefined
  const limit = Math.min(2, Math.floor(name.length / 3))
  let best
  let bestDistance = limit + 1
  for (const each of candidates.slice(0, MAXIMUM_CANDIDATES).sort()) {
    if (Math.abs(each.length - name.length) > limit || each.startsWith('__ptc_')) continue
    const distance = each.toLowerCase() === name.toLowerCase() ? 0 : distanceOf(name, each)
    if (distance < bestDistance) [best, bestDistance] = [each, distance]
  }
  return best
}

/** The number of letters to insert, remove or replace. */
function distanceOf(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1)
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)))
    row = next
  }
  return row[other.length]
}

module.exports = { keyOf, nearest, problemsOfArguments }
