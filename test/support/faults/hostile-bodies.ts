/** A request body of a hostile client of `ptc serve`. */
export interface HostileBody {
  readonly name: string
  readonly path: string
  readonly body: () => string
}

const mebibyte = 1024 * 1024

const repeat = (text: string, bytes: number): string =>
  Array(Math.floor(bytes / (text.length + 1)))
    .fill(text)
    .join(',')

const message = '/conversations/a/messages'

const aiSdkMessage = (parts: string): string => `{"id":"a","messages":[{"id":"1","role":"user","parts":[${parts}]}]}`

/** Bodies that the server refuses: some at the limit of bytes, some at the limit of structure. */
export const hostileBodies: readonly HostileBody[] = [
  {
    name: 'context of 2 MiB',
    path: message,
    body: () => `{"text":"","context":{"a":[${repeat('[]', 2 * mebibyte)}]}}`,
  },
  {
    name: 'context of 28 MiB',
    path: message,
    body: () => `{"text":"","context":{"a":[${repeat('[]', 28 * mebibyte)}]}}`,
  },
  { name: 'context of one text', path: message, body: () => `{"text":"","context":{"a":"${'x'.repeat(3_000)}"}}` },
  {
    name: 'context of 3,000 levels',
    path: message,
    body: () => `{"text":"","context":{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}}`,
  },
  {
    name: 'attachments of 28 MiB',
    path: message,
    body: () => `{"text":"","attachments":[${repeat('{}', 28 * mebibyte)}]}`,
  },
  { name: '100,000 attachments', path: message, body: () => `{"text":"","attachments":[${repeat('{}', 300_000)}]}` },
  {
    name: '80,000 unknown keys',
    path: message,
    body: () => `{${Array.from({ length: 80_000 }, (_, index) => `"k${index}":1`).join()}}`,
  },
  { name: '130,000 messages', path: '/conversations/a/reset', body: () => `{"messages":[${repeat('{}', 390_000)}]}` },
  {
    name: 'a message of 130,000 blocks',
    path: '/conversations/a/reset',
    body: () => `{"messages":[{"role":"user","content":[${repeat('{}', 390_000)}]}]}`,
  },
  {
    name: 'a message with 40,000 unknown keys',
    path: '/conversations/a/reset',
    body: () =>
      `{"messages":[{"role":"user","content":"",${Array.from({ length: 40_000 }, (_, index) => `"k${index}":1`).join()}}]}`,
  },
  { name: 'AI SDK, parts of 28 MiB', path: '/ai-sdk', body: () => aiSdkMessage(repeat('{}', 28 * mebibyte)) },
  { name: 'AI SDK, 100,000 parts', path: '/ai-sdk', body: () => aiSdkMessage(repeat('{}', 300_000)) },
  {
    name: 'arguments of an approval',
    path: '/approvals/abc',
    body: () => `{"decision":"approve","arguments":{"a":[${repeat('[]', 2 * mebibyte)}]}}`,
  },
]
