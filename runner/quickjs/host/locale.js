/* `Intl` for the engine, which has none: the formats are those of this process. Texts in, texts out. */
'use strict'

/** The classes that the program has, with their methods. */
const methods = {
  __proto__: null,
  Collator: ['compare'],
  DateTimeFormat: ['format', 'formatToParts', 'formatRange'],
  DisplayNames: ['of'],
  ListFormat: ['format', 'formatToParts'],
  NumberFormat: ['format', 'formatToParts', 'formatRange'],
  PluralRules: ['select'],
  RelativeTimeFormat: ['format', 'formatToParts'],
  Segmenter: ['segment'],
}
/** Segments take a hundred times the memory of their text. */
const MAXIMUM_SEGMENTED = 100_000
const MAXIMUM_KEPT = 100
const { Intl: hostIntl } = globalThis
const kept = new Map() // by class, locales and options

/**
 * Calls a method of a formatter; `resolvedOptions` and `supportedLocalesOf` exist in all classes.
 *
 * @param settings locales and options, as JSON
 * @param values the arguments, as JSON; a number is { number: text }, an integer { bigint: text }
 * @returns JSON: { value } or { error: message, name }
 */
function callFormatter(className, settings, method, values) {
  try {
    if (methods[className] === undefined) throw new TypeError(`there is no Intl.${className}`)
    if (method === 'supportedLocalesOf')
      return JSON.stringify({ value: hostIntl[className].supportedLocalesOf(...argumentsOf(settings)) })
    if (method !== 'resolvedOptions' && !methods[className].includes(method))
      throw new TypeError(`there is no ${className}.${method}`)
    const formatter = formatterOf(className, settings)
    const given = JSON.parse(values).map(decode)
    if (method === 'segment') return JSON.stringify({ value: segmentsOf(formatter, given[0]) })
    return JSON.stringify({ value: formatter[method](...given) })
  } catch (error) {
    return JSON.stringify({ error: String(error?.message), name: String(error?.name) })
  }
}

function segmentsOf(segmenter, text) {
  if (text.length > MAXIMUM_SEGMENTED)
    throw new RangeError(`a text of ${text.length} characters is over the limit of ${MAXIMUM_SEGMENTED}`)
  return Array.from(segmenter.segment(text), ({ segment, index, isWordLike }) => ({ segment, index, isWordLike }))
}

function formatterOf(className, settings) {
  const key = `${className} ${settings}`
  const found = kept.get(key)
  if (found) return found
  if (kept.size >= MAXIMUM_KEPT) kept.clear()
  const formatter = new hostIntl[className](...argumentsOf(settings))
  kept.set(key, formatter)
  return formatter
}

/** JSON has null for what was not given. */
const argumentsOf = (settings) => JSON.parse(settings).map((each) => each ?? undefined)

function decode(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return 'bigint' in value ? BigInt(value.bigint) : Number(value.number)
}

module.exports = { callFormatter }
