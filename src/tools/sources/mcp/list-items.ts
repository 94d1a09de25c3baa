import type { Client } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { utf8Length } from '../../../common/text/text.js'

/** Limits of a server's list. The bytes are of JSON. */
const maxPages = 100
const maxItems = 2_000
const maxBytes = 8 * 1024 * 1024

/** A list of a server: the member of the result has its name. */
export type ListedKind = 'tools' | 'resources' | 'resourceTemplates' | 'prompts'

const methods = {
  tools: 'tools/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
  prompts: 'prompts/list',
} as const satisfies Record<ListedKind, string>

const page = z.looseObject({ nextCursor: z.string().nullish() })
const items = z.array(z.unknown())

/** An item of a list, and the bytes of its JSON. */
export interface ListedItem {
  readonly item: unknown
  readonly bytes: number
}

/**
 * Yields the items of all pages of a list, as the server wrote them. A server that repeats a cursor has no more pages.
 *
 * @throws Error for a list that does not end, or is too long; errors of the SDK
 */
export async function* listItems(client: Client, kind: ListedKind, signal: AbortSignal): AsyncGenerator<ListedItem> {
  const what = kind === 'resourceTemplates' ? 'templates of resources' : kind
  const cursors = new Set<string>()
  let cursor: string | undefined
  let bytes = 0
  let count = 0
  do {
    const params = cursor === undefined ? {} : { cursor }
    const result = await client.request({ method: methods[kind], params }, page, { signal })
    for (const item of items.parse(result[kind])) {
      const itemBytes = utf8Length(JSON.stringify(item))
      bytes += itemBytes
      count += 1
      if (bytes > maxBytes) throw new Error(`the list of ${what} has more than ${maxBytes} bytes`)
      if (count > maxItems) throw new Error(`the server lists more than ${maxItems} ${what}`)
      yield { item, bytes: itemBytes }
    }
    const { nextCursor } = result
    if (nextCursor !== undefined && nextCursor !== null && cursors.has(nextCursor)) return
    cursor = nextCursor ?? undefined
    if (cursor !== undefined) cursors.add(cursor)
    if (cursors.size >= maxPages) throw new Error(`the list of ${what} has more than ${maxPages} pages`)
  } while (cursor !== undefined)
}
