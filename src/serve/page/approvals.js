// The cards of calls that wait for a person.

import { append, attempt, post, visibleJson } from './requests.js'

/** Keeps the cards of calls that still wait, because a person may be typing in one. */
export function showCalls(list, calls) {
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
    const { schema } = call.question ?? {}
    if (schema) append(card, 'pre', 'note', visibleJson(schema.properties, 2))
    const answer = field(card, 'textarea', 'Answer', '')
    const isJson = checkbox(card, 'Send as JSON')
    if (call.question) button('Decline', () => ({ decision: 'decline' }))
    button('Answer', () => ({ decision: 'answer', value: isJson.checked ? JSON.parse(answer.value) : answer.value }))
    return card
  }
  const original = visibleJson(call.arguments, 2)
  const args = field(card, 'textarea', 'Arguments', original)
  const reason = field(card, 'input', 'Reason', '')
  const remember = checkbox(card, 'Approve later calls with the same arguments, too')
  button('Approve', () => ({
    decision: 'approve',
    ...(args.value !== original && { arguments: JSON.parse(args.value) }),
    ...(remember.checked && { remember: true }),
  }))
  button('Deny', () => ({ decision: 'deny', reason: reason.value || 'denied' }))
  return card
}

function checkbox(parent, label) {
  const element = field(parent, 'input', label, '')
  element.type = 'checkbox'
  return element
}

function field(parent, tag, label, value) {
  const element = document.createElement(tag)
  element.value = value
  append(parent, 'label', '', `${label} `).append(element)
  return element
}
