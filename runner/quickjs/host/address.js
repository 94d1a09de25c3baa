/* `URL` and `URLSearchParams` for the engine, by those of this process. Texts in, texts out. */
'use strict'

const { URL, URLSearchParams } = globalThis
const parts = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
]

/**
 * Parses an address, and changes one part of it.
 *
 * @param base an address, or empty
 * @param part the name of the part that is set, or empty
 * @returns its parts as JSON; empty for an invalid address
 */
function parseAddress(text, base, part, value) {
  try {
    const url = base === '' ? new URL(text) : new URL(text, base)
    if (parts.includes(part)) url[part] = value
    return JSON.stringify(Object.fromEntries(parts.map((name) => [name, url[name]])))
  } catch {
    return ''
  }
}

/** Returns the pairs of a query as JSON. */
const parseQuery = (text) => JSON.stringify([...new URLSearchParams(text)])

/** @param pairs as JSON */
const writeQuery = (pairs) => new URLSearchParams(JSON.parse(pairs)).toString()

module.exports = { parseAddress, parseQuery, writeQuery }
