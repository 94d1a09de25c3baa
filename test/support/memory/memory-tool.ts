import type { JsonObject } from '../../../src/common/json/json.js'
import { listTools } from '../../../src/tools/sources/tool-source.js'
import type { MemoryCommand } from '../../../src/tools/memory/commands/commands.js'
import { memory, type MemoryOptions } from '../../../src/tools/memory/memory.js'

let calls = 0

/** Calls the tool. Default: a new key, and the user ada. */
export interface MemoryCaller {
  (command: MemoryCommand, key?: string, context?: JsonObject): Promise<string>
}

/** A function that calls the memory tool over a folder. */
export async function openMemory(
  directory: string,
  { scope = ({ user }) => user, ...options }: Partial<Pick<MemoryOptions, 'limits' | 'scope' | 'encryption'>> = {},
): Promise<MemoryCaller> {
  const source = memory({ store: { kind: 'local', directory }, scope, ...options })
  const { tools } = await listTools([source])
  const [tool] = tools
  if (tool === undefined) throw new Error('the source lists no tool')
  return async (command, key = `key ${calls++}`, context = { user: 'ada' }) => {
    const run = { namespace: 'n', workflowId: 'conversation-1', runId: 'r', agent: undefined }
    // The members that the tool uses.
    const callContext = { signal: new AbortController().signal, idempotencyKey: key, context, run }
    const result: unknown = await tool.run({ ...command }, callContext as never)
    return String(result)
  }
}

/** The file of most commands. */
export const file = '/memories/notes.txt'
export const create = (file_text: string, path = file): MemoryCommand => ({ command: 'create', path, file_text })
export const view = (path = file, view_range?: readonly number[]): MemoryCommand => ({
  command: 'view',
  path,
  view_range,
})
export const replace = (old_str: string, new_str?: string, path = file): MemoryCommand => {
  return { command: 'str_replace', path, old_str, new_str }
}
export const insert = (insert_line: number, insert_text: string, path = file): MemoryCommand => {
  return { command: 'insert', path, insert_line, insert_text }
}
