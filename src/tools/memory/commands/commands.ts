import { z } from 'zod'
import type { MemoryFile } from '../index-file.js'
import type { ParsedLimits } from '../limits.js'
import { renderFolder } from './listing.js'
import { MemoryError } from '../memory-error.js'
import { foldersOf, isInside, parsePath, root } from '../paths.js'
import type { Change, ScopedMemory, Version } from '../scoped-memory.js'
import { insertText, renderFile, replaceText } from './text.js'

const path = z.string().describe('Path of a file or a directory: /memories or below it. For all commands but rename.')

/** The arguments of `memory_20250818`. Each command needs some of them. */
export const memoryInput = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'delete', 'rename']),
  path: path.optional(),
  view_range: z
    .array(z.int())
    .length(2)
    .describe('For view of a file: the first and the last line, from 1; -1 is the last line of the file.')
    .optional(),
  file_text: z.string().describe('For create: the content of the new file.').optional(),
  old_str: z.string().describe('For str_replace: the text to replace. It must occur once.').optional(),
  new_str: z.string().describe('For str_replace: the new text. Without it, the old text is deleted.').optional(),
  insert_line: z.int().describe('For insert: the line after which to insert; 0 is the start of the file.').optional(),
  insert_text: z.string().describe('For insert: the text.').optional(),
  old_path: z.string().describe('For rename: the path of the file or directory.').optional(),
  new_path: z.string().describe('For rename: its new path.').optional(),
})

/** A call of the memory tool: a command and its arguments. */
export interface MemoryCommand {
  /** What to do. */
  readonly command: 'view' | 'create' | 'str_replace' | 'insert' | 'delete' | 'rename'
  /** For all commands but `rename`. */
  readonly path?: string | undefined
  /** For `view` of a file: its first and last line. */
  readonly view_range?: readonly number[] | undefined
  /** For `create`. */
  readonly file_text?: string | undefined
  /** For `str_replace`. */
  readonly old_str?: string | undefined
  /** For `str_replace`. Default: empty. */
  readonly new_str?: string | undefined
  /** For `insert`: the line after which to insert. */
  readonly insert_line?: number | undefined
  /** For `insert`. */
  readonly insert_text?: string | undefined
  /** For `rename`. */
  readonly old_path?: string | undefined
  /** For `rename`. */
  readonly new_path?: string | undefined
}

interface Call {
  readonly memory: ScopedMemory
  readonly limits: ParsedLimits
  readonly idempotencyKey: string
  readonly signal: AbortSignal
}

/** Executes a command. @throws MemoryError for a command that has no effect */
export async function runCommand(given: MemoryCommand, call: Call): Promise<string> {
  const pathAt = (name: 'path' | 'old_path' | 'new_path') => parsePath(need(given, name), call.limits.pathBytes)
  switch (given.command) {
    case 'view':
      return view(pathAt('path'), given.view_range, call)
    case 'create': {
      const target = pathAt('path')
      const text = need(given, 'file_text')
      return call.memory.write(call.idempotencyKey, async (version) => create(target, text, version, call), call.signal)
    }
    case 'str_replace': {
      const target = pathAt('path')
      const oldText = need(given, 'old_str')
      if (oldText === '') throw new MemoryError('arguments_invalid', 'Error: `old_str` is empty.')
      const missing = `Error: The path ${target} does not exist. Please provide a valid path.`
      return edit(target, missing, call, (text) => replaceText(target, text, oldText, given.new_str ?? ''))
    }
    case 'insert': {
      const target = pathAt('path')
      const line = need(given, 'insert_line')
      const inserted = need(given, 'insert_text')
      const missing = `Error: The path ${target} does not exist`
      return edit(target, missing, call, (text) => insertText(target, text, line, inserted))
    }
    case 'delete': {
      const target = pathAt('path')
      return call.memory.write(call.idempotencyKey, async (version) => remove(target, version), call.signal)
    }
    case 'rename': {
      const [from, to] = [pathAt('old_path'), pathAt('new_path')]
      return call.memory.write(call.idempotencyKey, async (version) => rename(from, to, version, call), call.signal)
    }
  }
}

function need<K extends keyof MemoryCommand>(given: MemoryCommand, name: K): NonNullable<MemoryCommand[K]> {
  const value = given[name]
  if (value === undefined || value === null) {
    throw new MemoryError('arguments_invalid', `Error: The command ${given.command} needs \`${name}\`.`)
  }
  return value
}

async function view(target: string, range: readonly number[] | undefined, { memory, signal }: Call): Promise<string> {
  return memory.read(async ({ index: { files } }) => {
    const file = files.find((each) => each.path === target)
    if (file) {
      const text = await memory.text(file, signal)
      return text === undefined ? undefined : renderFile(target, text, range)
    }
    if (target !== root && !isFolder(target, files)) {
      throw new MemoryError('not_found', `The path ${target} does not exist. Please provide a valid path.`)
    }
    return renderFolder(target, files)
  }, signal)
}

function create(target: string, text: string, { index: { files } }: Version, { limits }: Call): Change {
  if (files.some((file) => file.path === target)) {
    throw new MemoryError('exists', `Error: File ${target} already exists`)
  }
  assertFree(target, files)
  checkText(target, text)
  const change = { keep: files, put: { path: target, text }, result: `File created successfully at: ${target}` }
  checkQuota(change, limits)
  return change
}

async function edit(
  target: string,
  missing: string,
  { memory, limits, idempotencyKey, signal }: Call,
  apply: (text: string) => { readonly text: string; readonly result: string },
): Promise<string> {
  return memory.write(
    idempotencyKey,
    async ({ index: { files } }, attempt) => {
      const file = files.find((each) => each.path === target)
      // In the first attempt, the model was wrong. In a later one, the command may have fitted what was there before.
      const changed = attempt === 0 ? '' : ' Another writer has just changed this memory: view it again.'
      if (!file) throw new MemoryError(changed === '' ? 'not_found' : 'conflict', missing + changed)
      const text = await memory.text(file, signal)
      if (text === undefined) return undefined
      const edited = asConflict(changed, () => apply(text))
      checkText(target, edited.text)
      const keep = files.filter((each) => each !== file)
      const change = { keep, put: { path: target, text: edited.text }, result: edited.result }
      checkQuota(change, limits, file.bytes)
      return change
    },
    signal,
  )
}

function asConflict<Result>(changed: string, apply: () => Result): Result {
  try {
    return apply()
  } catch (thrown) {
    if (changed === '' || !(thrown instanceof MemoryError)) throw thrown
    throw new MemoryError('conflict', thrown.message + changed)
  }
}

function remove(target: string, { index: { files } }: Version): Change {
  if (target === root) throw new MemoryError('path_refused', `Error: Cannot delete the ${root} directory itself`)
  const keep = files.filter((file) => !isAtOrInside(file.path, target))
  if (keep.length === files.length) throw new MemoryError('not_found', `Error: The path ${target} does not exist`)
  return { keep, result: `Successfully deleted ${target}` }
}

function rename(from: string, to: string, { index: { files } }: Version, { limits }: Call): Change {
  if (from === root) throw new MemoryError('path_refused', `Error: Cannot rename the ${root} directory itself`)
  const moved = files.filter((file) => isAtOrInside(file.path, from))
  if (moved.length === 0) throw new MemoryError('not_found', `Error: The path ${from} does not exist`)
  if (to === root || files.some((file) => isAtOrInside(file.path, to))) {
    throw new MemoryError('exists', `Error: The destination ${to} already exists`)
  }
  if (isInside(to, from)) throw new MemoryError('path_refused', `Error: The destination ${to} is inside ${from}`)
  const stay = files.filter((file) => !moved.includes(file))
  assertFree(to, stay)
  const renamed = moved.map((file) => {
    const path = to + file.path.slice(from.length)
    if (Buffer.byteLength(path) <= limits.pathBytes) return { ...file, path }
    throw new MemoryError('path_refused', `Error: A path would be longer than ${limits.pathBytes} bytes.`)
  })
  return { keep: [...stay, ...renamed], result: `Successfully renamed ${from} to ${to}` }
}

/** @throws MemoryError exists, when the path or one of its folders is something else already */
function assertFree(target: string, files: readonly MemoryFile[]): void {
  if (target === root || isFolder(target, files)) {
    throw new MemoryError('exists', `Error: ${target} is a directory`)
  }
  const folders = foldersOf(target)
  const inTheWay = files.find((file) => folders.includes(file.path))
  if (inTheWay) throw new MemoryError('exists', `Error: ${inTheWay.path} is a file, not a directory`)
}

function isFolder(target: string, files: readonly MemoryFile[]): boolean {
  return files.some((file) => isInside(file.path, target))
}

function isAtOrInside(path: string, target: string): boolean {
  return path === target || isInside(path, target)
}

/** UTF-8 can't hold a lone surrogate: the stored text would be another. */
function checkText(target: string, text: string): void {
  if (text.isWellFormed()) return
  throw new MemoryError('arguments_invalid', `Error: The text of ${target} has a broken character (a lone surrogate).`)
}

/** @param before bytes of the file before an edit: a file or memory over a limit that was lowered may shrink */
function checkQuota({ keep, put }: Change, limits: ParsedLimits, before?: number): void {
  const bytes = put === undefined ? 0 : Buffer.byteLength(put.text)
  if (before !== undefined && bytes <= before) return
  if (bytes > limits.fileBytes) {
    const rule = `A file of the memory has at most ${limits.fileBytes} bytes, and this one would have ${bytes}.`
    throw new MemoryError('file_too_large', `Error: ${rule} Store less, or use several files.`)
  }
  if (before === undefined && keep.length + 1 > limits.files) {
    const rule = `The memory has at most ${limits.files} files.`
    throw new MemoryError('too_many_files', `Error: ${rule} Delete a file that is no longer needed, or add to one.`)
  }
  const total = keep.reduce((sum, file) => sum + file.bytes, bytes)
  if (total > limits.totalBytes) {
    const rule = `The memory has at most ${limits.totalBytes} bytes, and would have ${total}.`
    throw new MemoryError('memory_full', `Error: ${rule} Delete or shorten what is no longer needed.`)
  }
}
