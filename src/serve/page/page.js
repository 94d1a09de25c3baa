// The chat page. Text of a model, a sandbox or a person becomes a text node, never HTML.

import { showCalls } from './approvals.js'
import { Chat } from './chat.js'
import { attempt, byId, pause, post, read } from './requests.js'

const listMs = 5_000

async function pollAll() {
  for (;;) {
    if (byId('all').open) {
      const calls = await read('/approvals').catch(() => undefined)
      if (calls) showCalls(byId('all-approvals'), calls)
    }
    await pause(listMs)
  }
}

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
  const chosen = await Promise.all([...byId('files').files].map(read64))
  const attachments = chosen.filter(({ type }) => attachmentTypes.includes(type))
  const files = chosen.filter(({ type }) => !attachmentTypes.includes(type))
  await chat.send(value, {
    steer,
    attachments: attachments.map(({ data, name }) => ({ data, name })),
    files: files.map(({ data, name }) => ({ data, path: name })),
  })
  if (byId('text').value === value) byId('text').value = ''
  byId('files').value = ''
}

/** What the model reads by itself. All other files are for its code. */
const attachmentTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf']

/** The bytes of a file in base64. The server determines the type of an attachment from its content. */
async function read64(file) {
  const reader = new FileReader()
  const url = await new Promise((resolve, reject) => {
    reader.addEventListener('load', () => resolve(reader.result))
    reader.addEventListener('error', () => reject(reader.error))
    reader.readAsDataURL(file)
  })
  return { data: url.slice(url.indexOf(',') + 1), name: file.name, type: file.type }
}

onSubmit('open', async () => openChat(byId('name').value))
onSubmit('authorize', async () => {
  sessionStorage.setItem('token', byId('token').value)
  byId('authorize').hidden = true
  await listNames()
  if (byId('name').value) openChat(byId('name').value)
})
onSubmit('send', () => sendText(false))
byId('steer').addEventListener('click', () => void attempt(() => sendText(true)))
byId('interrupt').addEventListener('click', () => void attempt(() => post(`${chat.path}/interrupt`)))
byId('text').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  byId('send').requestSubmit()
})
byId('all').addEventListener('toggle', () => {
  if (byId('all').open) void attempt(async () => showCalls(byId('all-approvals'), await read('/approvals')))
})

/** The name in the address. A typed address may not be encoded correctly. */
function nameInAddress() {
  const encoded = location.hash.slice(1)
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

void listNames()
void pollAll()
if (location.hash.length > 1) openChat(nameInAddress())
