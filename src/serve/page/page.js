// The chat page. Whatever comes from a model, a sandbox or a person becomes a text node, and never HTML.

const reconnectMs = 1_000
const pollMs = 1_000
const listMs = 5_000
/** After an answer, its last events may still be on their way. */
const settleMs = 1_500

const byId = (id) => document.getElementById(id)

/** @returns a new element at the end of its parent */
function append(parent, tag, className, text = '') {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  parent.append(element)
  return element
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

// Requests

async function request(path, { method = 'GET', body, headers, signal } = {}) {
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

async function read(path, options) {
  const response = await request(path, options)
  return response.status === 204 ? undefined : response.json()
}

const post = (path, body = {}) => read(path, { method: 'POST', body })

/** For what a person has asked for: shows a failure. */
async function attempt(action) {
  byId('problem').textContent = ''
  try {
    return await action()
  } catch (error) {
    byId('problem').textContent = error.message
    return undefined
  }
}

/** Repeats a request while the server can't be reached. An error with a code is an answer of the server. */
async function persist(signal, action) {
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

/** The events of a response of Server-Sent Events, with their ids. */
async function* serverSentEvents(response) {
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

// One conversation

class Chat {
  constructor(name) {
    this.name = name
    this.path = `/conversations/${encodeURIComponent(name)}`
    this.closed = new AbortController()
    this.log = byId('log')
    this.units = new Map()
    /** Elements of the messages that this page has sent, by id. */
    this.sent = new Map()
    this.isStreaming = false
    this.lastText = ''
  }

  get signal() {
    return this.closed.signal
  }

  async open() {
    this.log.replaceChildren()
    byId('approvals').replaceChildren()
    const status = await persist(this.signal, () => this.status())
    if (this.signal.aborted) return
    byId('send').hidden = false
    if (status) {
      await this.showHistory(status.message !== null)
      void this.stream(({ turn, message }) =>
        status.message === null ? turn > status.turns : message === status.message,
      )
      if (status.message !== null) void this.awaitAnswer(status.message)
    }
    void this.poll()
  }

  close() {
    this.closed.abort()
  }

  /** Undefined while the conversation does not exist. */
  async status() {
    try {
      return await read(this.path)
    } catch (error) {
      if (error.code === 'CONVERSATION_NOT_FOUND' || error.code === 'CONVERSATION_CLOSED') return undefined
      throw error
    }
  }

  async send(text, steer) {
    const id = crypto.randomUUID()
    const element = append(this.log, 'div', 'user queued', text)
    this.sent.set(id, element)
    try {
      await post(`${this.path}/messages`, { text, id, steer })
    } catch (error) {
      element.remove()
      this.sent.delete(id)
      throw error
    }
    if (!this.isStreaming) void this.stream(() => true)
    void this.awaitAnswer(id)
  }

  async awaitAnswer(id) {
    const path = `${this.path}/messages/${encodeURIComponent(id)}`
    try {
      const answer = await persist(this.signal, () => read(path, { signal: this.signal }))
      if (!answer) return
      this.sent.get(id)?.classList.remove('queued')
      if (answer.joined !== undefined) return
      await pause(settleMs)
      if (this.signal.aborted) return
      if (answer.answer && answer.answer !== this.lastText) append(this.log, 'div', 'text', answer.answer)
      const why = answer.error ? `: ${answer.error.code}: ${answer.error.message}` : ''
      if (answer.status !== 'answered') append(this.log, 'p', 'note', `${answer.status}${why}`)
    } catch (error) {
      if (!this.signal.aborted) append(this.log, 'p', 'note error', error.message)
    }
  }

  // History

  /** @param isWorking the stream has everything after the last message of a person */
  async showHistory(isWorking) {
    const messages = await attempt(() => read(`${this.path}/history`))
    if (!messages) return
    const last = isWorking ? messages.findLastIndex(isQuestion) : messages.length - 1
    for (const { role, content } of messages.slice(0, last + 1))
      for (const block of typeof content === 'string' ? [{ type: 'text', text: content }] : content)
        this.showBlock(role, block)
  }

  showBlock(role, block) {
    if (block.type === 'text') append(this.log, 'div', role === 'user' ? 'user' : 'text', block.text)
    if (block.type === 'tool_use') {
      const { code } = block.input
      if (block.name === 'execute_code' && typeof code === 'string') append(this.log, 'pre', 'code', code)
      else append(this.log, 'p', 'call', `${block.name} ${JSON.stringify(block.input)}`)
    }
    if (block.type === 'tool_result')
      append(this.log, 'pre', block.is_error ? 'output error' : 'output', toText(block.content))
  }

  // Stream

  /** @param begins whether the view begins with this turn */
  async stream(begins) {
    this.isStreaming = true
    let isShown = false
    let lastId
    while (!this.signal.aborted) {
      try {
        const headers = lastId === undefined ? {} : { 'Last-Event-ID': lastId }
        const response = await request(`${this.path}/stream`, { headers, signal: this.signal })
        for await (const { id, event } of serverSentEvents(response)) {
          lastId = id ?? lastId
          isShown ||= event.type === 'turn.begins' && begins(event)
          if (event.type === 'error') throw Object.assign(new Error(event.error.message), { code: event.error.code })
          if (event.type === 'end') return this.end(event)
          if (isShown) await this.show(event)
        }
      } catch (error) {
        if (error.code === 'RUN_INPUT_INVALID' || error.code === 'UNAUTHORIZED') break
      }
      await pause(reconnectMs)
    }
    this.isStreaming = false
  }

  end({ status }) {
    this.isStreaming = false
    this.units.clear()
    append(this.log, 'p', 'note', `the conversation has ended: ${status}`)
  }

  /** The element of a unit, which a retry empties. */
  unit(name) {
    const known = this.units.get(name) ?? append(this.log, 'div', 'unit')
    this.units.set(name, known)
    return known
  }

  block(unit, key, tag, className) {
    const parent = this.unit(unit)
    return [...parent.children].find((each) => each.dataset.key === key) ?? this.newBlock(parent, key, tag, className)
  }

  newBlock(parent, key, tag, className) {
    const element = append(parent, tag, className)
    element.dataset.key = key
    return element
  }

  async show(event) {
    const { unit } = event
    switch (event.type) {
      case 'turn.begins':
        await this.showQuestion(event.message)
        this.lastText = ''
        this.unit(unit)
        break
      case 'text':
        this.block(unit, `${event.block}`, 'div', 'text').append(event.text)
        this.lastText = [...this.unit(unit).querySelectorAll('.text')].map((each) => each.textContent).join('\n\n')
        break
      case 'code':
        this.block(unit, `${event.block}`, 'pre', 'code').append(event.text)
        break
      case 'output':
        this.block(unit, 'output', 'pre', 'output').append(event.text)
        break
      case 'cell.ends':
        if (event.error !== undefined) this.block(unit, 'error', 'pre', 'output error').append(event.error)
        break
      case 'call.begins':
        this.block(unit, 'call', 'p', 'call').textContent = `${event.summary} …`
        break
      case 'call.ends':
        this.block(unit, 'end', 'p', 'call').textContent = `${event.tool}: ${event.status}`
        break
      case 'turn.fails':
        this.block(unit, 'end', 'p', 'note error').textContent = event.code
        break
      case 'reset':
        this.units.get(unit)?.replaceChildren()
        break
      case 'gap':
        append(this.log, 'p', 'note', 'events are missing here')
        break
    }
  }

  /** The message that a turn is for: of this page, or of another client. */
  async showQuestion(id) {
    if (id === undefined || id === this.question) return
    this.question = id
    const element = this.sent.get(id)
    if (element) {
      element.classList.remove('queued')
      this.log.append(element)
      return
    }
    if (this.log.lastElementChild?.classList.contains('user')) return
    const messages = (await read(`${this.path}/history`).catch(() => [])) ?? []
    const { content = '' } = messages.findLast(isQuestion) ?? {}
    append(this.log, 'div', 'user', toText(content))
  }

  // Status and approvals

  async poll() {
    for (; !this.signal.aborted; await pause(pollMs)) {
      const status = await this.status().catch(() => null)
      if (this.signal.aborted) return
      byId('status').textContent = describe(status)
      const isWorking = status?.state === 'working'
      byId('steer').disabled = !isWorking
      byId('interrupt').disabled = !isWorking
      const list = byId('approvals')
      if (status && !status.waitingCalls) list.replaceChildren()
      if (!status?.waitingCalls) continue
      const calls = await read(`/approvals?conversation=${encodeURIComponent(this.name)}`).catch(() => undefined)
      if (calls && !this.signal.aborted) showCalls(list, calls)
    }
  }
}

function describe(status) {
  if (status === null) return 'no connection to the server'
  if (!status) return 'the first message starts the conversation'
  const { state, queued, turns, toolCalls, costUsd } = status
  const cost = typeof costUsd === 'number' ? `, ${costUsd.toFixed(4)} USD` : ''
  return `${state}; ${queued} queued, ${turns} turns, ${toolCalls} calls${cost}`
}

/** A message of a person: it has no results of tools. */
function isQuestion({ role, content }) {
  if (role !== 'user') return false
  return typeof content === 'string' || content.every(({ type }) => type !== 'tool_result')
}

function toText(content) {
  if (typeof content === 'string') return content
  return (content ?? []).map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
}

// Approvals

/** Keeps the cards of calls that still wait: a person may be typing in one. */
function showCalls(list, calls) {
  const shown = new Map([...list.children].map((card) => [card.dataset.token, card]))
  for (const [token, card] of shown) if (!calls.some((call) => call.token === token)) card.remove()
  for (const call of calls) if (!shown.has(call.token)) list.append(callCard(call))
}

function callCard(call) {
  const card = document.createElement('div')
  card.className = 'approval'
  card.dataset.token = call.token
  append(card, 'div', 'summary', call.summary)
  append(card, 'p', 'note', `${call.conversation ?? call.run}, ${call.call}; expires ${call.expiresAt}`)
  const decide = (decision) =>
    attempt(async () => {
      await post(`/approvals/${encodeURIComponent(call.token)}`, decision())
      card.remove()
    })
  const button = (text, decision) => append(card, 'button', '', text).addEventListener('click', () => decide(decision))
  if (call.waitsFor === 'result') {
    const answer = field(card, 'textarea', 'Answer', '')
    button('Answer', () => ({ decision: 'answer', value: answer.value }))
    return card
  }
  const original = JSON.stringify(call.arguments, undefined, 2)
  const args = field(card, 'textarea', 'Arguments', original)
  const reason = field(card, 'input', 'Reason', '')
  const remember = field(card, 'input', 'Approve later calls of this tool, too', '')
  remember.type = 'checkbox'
  button('Approve', () => ({
    decision: 'approve',
    ...(args.value !== original && { arguments: JSON.parse(args.value) }),
    ...(remember.checked && { remember: true }),
  }))
  button('Deny', () => ({ decision: 'deny', reason: reason.value || 'denied' }))
  return card
}

function field(parent, tag, label, value) {
  const element = document.createElement(tag)
  element.value = value
  append(parent, 'label', '', `${label} `).append(element)
  return element
}

async function pollAll() {
  for (;;) {
    if (byId('all').open) {
      const calls = await attempt(() => read('/approvals'))
      if (calls) showCalls(byId('all-approvals'), calls)
    }
    await pause(listMs)
  }
}

// The page

let chat

function openChat(name) {
  chat?.close()
  chat = new Chat(name)
  location.hash = encodeURIComponent(name)
  byId('name').value = name
  void attempt(() => chat.open())
}

async function listNames() {
  const conversations = await attempt(() => read('/conversations'))
  byId('names').replaceChildren(...(conversations ?? []).map(({ name }) => new Option(name)))
}

function onSubmit(id, action) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault()
    void attempt(action)
  })
}

async function sendText(steer) {
  const { value } = byId('text')
  if (value.trim() === '') return
  await chat.send(value, steer)
  if (byId('text').value === value) byId('text').value = ''
}

onSubmit('open', async () => openChat(byId('name').value))
onSubmit('authorize', async () => {
  sessionStorage.setItem('token', byId('token').value)
  byId('authorize').hidden = true
  await listNames()
  if (byId('name').value) openChat(byId('name').value)
})
onSubmit('send', () => sendText(false))
byId('steer').addEventListener('click', () => attempt(() => sendText(true)))
byId('interrupt').addEventListener('click', () => attempt(() => post(`${chat.path}/interrupt`)))
byId('text').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  byId('send').requestSubmit()
})
byId('all').addEventListener('toggle', () => {
  if (byId('all').open) void attempt(async () => showCalls(byId('all-approvals'), await read('/approvals')))
})

void listNames()
void pollAll()
if (location.hash.length > 1) openChat(decodeURIComponent(location.hash.slice(1)))
