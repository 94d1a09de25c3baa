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

const messagesApi = '/v1/messages'

const request = (messages: string, more = ''): string => `{"model":"m","max_tokens":9,"messages":[${messages}]${more}}`

const unknownKeys = (count: number): string => Array.from({ length: count }, (_, index) => `"k${index}":1`).join()

/** Each is refused: bodies at the limit of bytes, and bodies at the limit of structure. */
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
    body: () => `{${unknownKeys(80_000)}}`,
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
    body: () => `{"messages":[{"role":"user","content":"",${unknownKeys(40_000)}}]}`,
  },
  { name: 'AI SDK, parts of 28 MiB', path: '/ai-sdk', body: () => aiSdkMessage(repeat('{}', 28 * mebibyte)) },
  { name: 'AI SDK, 100,000 parts', path: '/ai-sdk', body: () => aiSdkMessage(repeat('{}', 300_000)) },
  { name: 'AI SDK, 99,999 messages', path: '/ai-sdk', body: () => `{"id":"a","messages":[${repeat('{}', 299_997)}]}` },
  {
    name: 'AI SDK, an answer with 40,000 decisions',
    path: '/ai-sdk',
    body: () =>
      `{"id":"a","messages":[{"id":"1","role":"assistant","parts":[${repeat('{"state":"approval-responded"}', 40_000 * 31)}]}]}`,
  },
  {
    name: 'AI SDK, an answer with 130,000 parts',
    path: '/ai-sdk',
    body: () => `{"id":"a","messages":[{"id":"1","role":"assistant","parts":[${repeat('{}', 390_000)}]}]}`,
  },
  { name: 'Messages API, 99,999 messages', path: messagesApi, body: () => request(repeat('{}', 299_997)) },
  {
    name: 'Messages API, 99,999 blocks',
    path: messagesApi,
    body: () => request(`{"role":"user","content":[${repeat('{}', 299_997)}]}`),
  },
  {
    name: 'Messages API, 25,000 messages without blocks',
    path: messagesApi,
    body: () => request(repeat('{"role":"user","content":0}', 25_000 * 28)),
  },
  {
    name: 'Messages API, 190,000 skills',
    path: messagesApi,
    body: () => request('', `,"container":{"skills":[${repeat('0', 380_000)}]}`),
  },
  {
    name: 'Messages API, 40,000 unknown keys of a message',
    path: messagesApi,
    body: () => request(`{"role":"user","content":"",${unknownKeys(40_000)}}`),
  },
  {
    name: 'Messages API, 190,000 tools',
    path: messagesApi,
    body: () => request('{"role":"user","content":"a"}', `,"tools":[${repeat('0', 380_000)}]`),
  },
  {
    name: 'arguments of an approval',
    path: '/approvals/abc',
    body: () => `{"decision":"approve","arguments":{"a":[${repeat('[]', 2 * mebibyte)}]}}`,
  },
]
