/* The text of an error for the model. It depends on no engine. */
'use strict'

const MAXIMUM_ERROR_CHARACTERS = 8_000
/** Their values are in the stack, or are shown in another way. */
const SHOWN_ELSEWHERE = new Set(['name', 'message', 'stack', 'cause', 'errors'])
const MAXIMUM_PROPERTIES = 10
const MAXIMUM_PROPERTY_CHARACTERS = 500

/**
 * Returns a function that returns the text of an error, and never throws.
 *
 * @param inspect shows any value
 * @param isError whether a value is an error
 * @param isShown whether a line of a stack is shown
 * @param hintFor returns what follows the text of an error
 */
function createFormatError({ inspect, isError, isShown, hintFor = () => '' }) {
  function formatError(error) {
    try {
      const text = isError(error) ? errorText(error, new Set()) + hintFor(error) : `Uncaught ${inspect(error)}`
      if (text.length <= MAXIMUM_ERROR_CHARACTERS) return text.toWellFormed?.() ?? text
      const half = MAXIMUM_ERROR_CHARACTERS / 2
      return `${text.slice(0, half)}\n[... cut ...]\n${text.slice(-half)}`
    } catch {
      return 'an error that can not be shown' // hostile getters
    }
  }

  function errorText(error, seen) {
    seen.add(error)
    const { stack, cause, errors } = error
    const lines = String(stack ?? error)
      .split('\n')
      .filter(isShown)
    lines.push(...propertiesOf(error, lines.pop()))
    if (Array.isArray(errors))
      for (const each of errors.slice(0, 10)) if (!seen.has(each)) lines.push(...indented(errorOrValue(each, seen)))
    if (cause !== undefined && !seen.has(cause)) lines.push(...indented(`[cause]: ${errorOrValue(cause, seen)}`))
    return lines.join('\n')
  }

  /** The last line of the stack, with the properties that code has given to the error, as Node.js shows them. */
  function propertiesOf(error, line) {
    const shown = Object.entries(Object.getOwnPropertyDescriptors(error))
      .filter(([key, { enumerable, value }]) => enumerable && value !== undefined && !SHOWN_ELSEWHERE.has(key))
      .slice(0, MAXIMUM_PROPERTIES)
      .map(([key, { value }]) => `${key}: ${inspect(value, { depth: 1 }).slice(0, MAXIMUM_PROPERTY_CHARACTERS)}`)
    return shown.length === 0 ? [line] : [`${line} {`, ...indented(shown.join(',\n')), '}']
  }

  function errorOrValue(value, seen) {
    return isError(value) ? errorText(value, seen) : inspect(value, { depth: 2 })
  }

  return formatError
}

function indented(text) {
  return text.split('\n').map((line) => `  ${line}`)
}

module.exports = { createFormatError }
