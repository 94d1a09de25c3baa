// Requests to the server, and elements for the responses.

const reconnectMs = 1_000

export const byId = (id) => document.getElementById(id)

/** @returns a new element at the end of its parent */
export function append(parent, tag, className, text = '') {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  parent.append(element)
  return element
}

/** The server inserts the expression `invisibleCharacters` of `src/common/text`. */
const invisibleCharacters = /INVISIBLE_CHARACTERS|\p{Cc}/gu

/**
 * A value as JSON in which a person sees every character: invisible characters and those that change the direction of a
 * text are escaped. Parsing the text gives the same value.
 */
export function visibleJson(value, indent = 0) {
  const text = JSON.stringify(value, undefined, indent)
  return text.replace(invisibleCharacters, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
          .join(''),
  )
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export async function request(path, { method = 'GET', body, headers, signal } = {}) {
  const token = sessionStorage.getItem('token')
  const response = await fetch(path, {
    method,
    signal,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (response.ok) return response
  if (response.status === 401) byId('authorize').hidden = false
  const { error } = await response.json().catch(() => ({ error: { message: `status ${response.status}` } }))
  throw Object.assign(new Error([error.message, error.hint].filter(Boolean).join(' ')), { code: error.code })
}

export async function read(path, options) {
  const response = await request(path, options)
  return response.status === 204 ? undefined : response.json()
}

export const post = (path, body = {}) => read(path, { method: 'POST', body })

/** Performs an action that a person asked for, and shows a failure. */
export async function attempt(action) {
  byId('problem').textContent = ''
  try {
    return await action()
  } catch (error) {
    byId('problem').textContent = error.message
    return undefined
  }
}

/**
 * Repeats a request while the server can't be reached. An error with a code comes from the server, and is not repeated.
 */
export async function persist(signal, action) {
  while (!signal.aborted) {
    try {
      return await action()
    } catch (error) {
      if (error.code && !['TEMPORAL_UNREACHABLE', 'WORKER_MISSING', 'RUN_BUSY'].includes(error.code)) throw error
      await pause(reconnectMs)
    }
  }
  return undefined
}

/** The events in a response of Server-Sent Events, with their ids. */
export async function* serverSentEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop()
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))
      if (fields.data !== undefined) yield { id: fields.id, event: JSON.parse(fields.data) }
    }
  }
}
