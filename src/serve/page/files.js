// Artifacts of a conversation: a button that downloads each, and small images.

import { append, attempt, request } from './requests.js'

const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const maxImageBytes = 5_000_000

/** Shows an artifact. Its bytes are from code in a sandbox: only a picture is shown, and never a page. */
export function showFile(element, conversation, { path, bytes, mediaType }) {
  element.replaceChildren()
  const button = append(element, 'button', 'file', `${path} (${bytes} bytes)`)
  button.type = 'button'
  button.addEventListener('click', () => void attempt(() => save(conversation, path)))
  if (imageTypes.includes(mediaType) && bytes <= maxImageBytes)
    void showImage(element, conversation, path, mediaType).catch(() => undefined)
}

/** The request has the token, which a link would not have. */
async function fetchFile(conversation, path) {
  const url = path.slice(1).split('/').map(encodeURIComponent).join('/')
  return (await request(`${conversation}/files/${url}`)).blob()
}

async function showImage(element, conversation, path, type) {
  const blob = new Blob([await fetchFile(conversation, path)], { type })
  const image = append(element, 'img', 'file')
  image.alt = path
  image.addEventListener('load', () => URL.revokeObjectURL(image.src))
  image.src = URL.createObjectURL(blob)
}

async function save(conversation, path) {
  const bytes = await fetchFile(conversation, path)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  link.download = path.slice(path.lastIndexOf('/') + 1)
  link.click()
  URL.revokeObjectURL(link.href)
}
