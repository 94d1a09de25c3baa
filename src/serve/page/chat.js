// A conversation: its history, its stream, its status, and the calls that wait for a person.

import { showCalls } from './approvals.js'
import { showFile } from './files.js'
import {
  append,
  attempt,
  byId,
  pause,
  persist,
  post,
  read,
  request,
  serverSentEvents,
  visibleJson,
} from './requests.js'

const reconnectMs = 1_000
const pollMs = 1_000
/** The waiting calls are read once in so many polls. The status does not have those of sub-agents. */
const pollsPerList = 3
/** After an answer, its last events may still be on their way. */
const settleMs = 500

export class Chat {
  constructor(name) {
    this.name = name
    this.path = `/conversations/${encodeURIComponent(name)}`
    this.closed = new AbortController()
    this.log = byId('log')
    this.units = new Map()
    /** The elements of messages that this page has sent, by id. */
    this.sent = new Map()
    /** Ids of messages without an answer, in order. */
    this.unanswered = []
    this.isStreaming = false
    this.hasGap = false
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
      if (status.message !== null) this.unanswered.push(status.message)
    }
    void this.poll()
  }

  close() {
    this.closed.abort()
  }

  /** @returns undefined while the conversation does not exist */
  async status() {
    try {
      return await read(this.path)
    } catch (error) {
      if (error.code === 'CONVERSATION_NOT_FOUND' || error.code === 'CONVERSATION_CLOSED') return undefined
      throw error
    }
  }

  async send(text, { steer, attachments, files }) {
    const id = crypto.randomUUID()
    const names = [...attachments, ...files].map(({ name, path }) => `[${name ?? path}]\n`)
    const element = append(this.log, 'div', 'user queued', names.join('') + text)
    this.sent.set(id, element)
    try {
      await post(`${this.path}/messages`, { text, id, steer, attachments, ...(files.length > 0 && { files }) })
    } catch (error) {
      element.remove()
      this.sent.delete(id)
      throw error
    }
    if (!this.isStreaming) void this.stream(() => true)
    this.unanswered.push(id)
  }

  /** Reads from the status which messages have answers, because a browser has few connections to a server. */
  showAnswers(status) {
    const current = status ? status.message : null
    const open = current === null ? this.unanswered.length : Math.max(0, this.unanswered.indexOf(current))
    for (const id of this.unanswered.splice(0, open)) void this.showAnswer(id)
  }

  async showAnswer(id) {
    const path = `${this.path}/messages/${encodeURIComponent(id)}`
    try {
      const answer = await persist(this.signal, () => read(path, { signal: this.signal }))
      if (!answer) return
      this.sent.get(id)?.classList.remove('queued')
      if (answer.joined !== undefined) return
      await pause(settleMs)
      if (this.signal.aborted) return
      if (!this.isStreaming || this.hasGap) append(this.log, 'div', 'text', answer.answer)
      const why = answer.error ? `: ${answer.error.code}: ${answer.error.message}` : ''
      if (answer.status !== 'answered') append(this.log, 'p', 'note', `${answer.status}${why}`)
    } catch (error) {
      if (!this.signal.aborted) append(this.log, 'p', 'note error', error.message)
    }
  }

  // History

  /** @param isWorking whether the stream has everything after the last message of a person */
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
    if (block.type === 'image' || block.type === 'document') append(this.log, 'div', 'user', toText([block]))
    if (block.type === 'tool_use') {
      const { code } = block.input
      if (block.name === 'execute_code' && typeof code === 'string') append(this.log, 'pre', 'code', code)
      else append(this.log, 'p', 'call', `${block.name} ${visibleJson(block.input)}`)
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
          isShown ||= event.type === 'turn.started' && begins(event)
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

  /** The element of a unit. A retry empties it. */
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
      case 'turn.started':
        await this.showQuestion(event.message)
        this.unit(unit)
        break
      case 'text.delta':
        this.block(unit, `${event.block}`, 'div', 'text').append(event.text)
        break
      case 'code.delta':
        this.block(unit, `${event.block}`, 'pre', 'code').append(event.text)
        break
      case 'output.preview':
      case 'output.delta':
        showOutput(this.block(unit, 'output', 'pre', 'output'), event.text, event.stderr ?? [])
        break
      case 'cell.failed':
        this.block(unit, 'error', 'pre', 'output error').append(event.error)
        break
      case 'call.started':
        this.block(unit, 'call', 'p', 'call').textContent = `${event.summary} …`
        break
      case 'milestone.reached':
        this.block(unit, 'call', 'p', 'call').textContent = `${event.tool}: ${event.text} …`
        break
      case 'call.completed':
      case 'call.deferred':
      case 'call.failed':
        this.block(unit, 'end', 'p', 'call').textContent = `${event.tool}: ${event.status ?? event.type.slice(5)}`
        break
      case 'file.uploaded':
        this.block(unit, 'file', 'p', 'note').textContent = `uploaded: ${event.path}`
        break
      case 'file.kept':
        showFile(this.block(unit, 'file', 'p', 'call'), this.path, event)
        break
      case 'compaction.started':
        this.block(unit, 'end', 'p', 'note').textContent = `compaction of ${event.tokensBefore} tokens …`
        break
      case 'compaction.completed':
        this.block(unit, 'end', 'p', 'note').textContent =
          `compaction: ${event.tokensBefore} to ${event.tokensAfter} tokens`
        break
      case 'compaction.failed':
      case 'turn.failed':
        this.block(unit, 'end', 'p', 'note error').textContent = event.code
        break
      case 'reset':
        this.units.get(unit)?.replaceChildren()
        break
      case 'gap':
        this.hasGap = true
        append(this.log, 'p', 'note', 'events are missing here')
        break
    }
  }

  /** Shows the message that a turn is for, from this page or another client. */
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
    for (let polls = 0; !this.signal.aborted; await pause(pollMs)) {
      const status = await this.status().catch(() => null)
      if (this.signal.aborted) return
      byId('status').textContent = describe(status)
      if (status !== null) this.showAnswers(status)
      const isWorking = status?.state === 'working'
      byId('steer').disabled = !isWorking
      byId('interrupt').disabled = !isWorking
      const list = byId('approvals')
      const mayWait = isWorking || status?.waitingCalls > 0
      if (status && !mayWait) list.replaceChildren()
      if (!mayWait) continue
      polls += 1
      if (polls % pollsPerList !== 1) continue
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
  return `${state}; ${queued} queued, ${plural(turns, 'turn')}, ${plural(toolCalls, 'call')}${cost}`
}

function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Whether a message is from a person: it has no results of tools. */
function isQuestion({ role, content }) {
  if (role !== 'user') return false
  return typeof content === 'string' || content.every(({ type }) => type !== 'tool_result')
}

function showOutput(element, text, stderr) {
  element.replaceChildren()
  let last = 0
  for (const [start, end] of stderr) {
    element.append(text.slice(last, start))
    append(element, 'span', 'stderr', text.slice(start, end))
    last = end
  }
  element.append(text.slice(last))
}

function toText(content) {
  if (typeof content === 'string') return content
  return (content ?? [])
    .map((block) => (block.type === 'text' ? block.text : `[${block.title ?? block.type}]`))
    .join('\n')
}
