import path from 'node:path'
import { messageOf } from '../../../../common/errors.js'
import type { JsonObject, JsonValue } from '../../../../common/json/json.js'
import { pluralize } from '../../../../common/text/text.js'

/*
 * A document in several files. The files that it refers to become parts of it, under `x-files`, and all references become
 * references within it: nothing else of the source knows that there are files.
 */

export interface LoadedFile {
  readonly root: JsonObject
  /** The base of its relative references. */
  readonly url: URL
}

/** Reads a file of the document, in a place that is allowed. @throws Error */
export type LoadFile = (url: URL) => Promise<LoadedFile>

const maxFiles = 500

/** The member of the document that has the other files, by their names. */
const filesMember = 'x-files'

/** A member that has a reference. The documents are this module's own: they were parsed for it. */
interface Holder {
  readonly object: Record<string, JsonValue>
  readonly key: string
  readonly pointer: string
}

interface File {
  /** Undefined for the document itself. */
  readonly name: string | undefined
  readonly holders: Holder[]
  root?: JsonObject
}

/**
 * Adds the files that a document refers to.
 *
 * @returns problems: a reference to a file that can't be read stays as it is, and what needs it can't be used
 */
export async function bundle({ root, url }: LoadedFile, load: LoadFile): Promise<readonly string[]> {
  const problems: string[] = []
  const files = new Map<string, File>([[plain(url), { name: undefined, holders: [], root }]])
  const waiting: LoadedFile[] = [{ root, url }]
  let isCut = false
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const { object, key, reference } of referencesIn(next.root)) {
      const [file = '', pointer = ''] = reference.split(/#(.*)/s)
      const isPointer = pointer === '' || pointer.startsWith('/')
      const target = URL.canParse(file, next.url.href) ? new URL(file, next.url) : undefined
      if (!isPointer || target === undefined) continue
      const known = files.get(plain(target))
      const holder = { object, key, pointer }
      if (known) {
        known.holders.push(holder)
        continue
      }
      if (files.size > maxFiles) {
        isCut = true
        continue
      }
      const added: File = { name: nameOf(target, url), holders: [holder] }
      files.set(plain(target), added)
      try {
        const loaded = await load(target)
        added.root = loaded.root
        waiting.push(loaded)
      } catch (thrown) {
        problems.push(`${added.name}: ${messageOf(thrown)}`)
      }
    }
  }
  join(root, [...files.values()])
  return isCut ? [...problems, `it has more than ${pluralize(maxFiles, 'other file')}`] : problems
}

function join(root: JsonObject, files: readonly File[]): void {
  const read = files.flatMap(({ name, root: content }): [string, JsonObject][] =>
    name !== undefined && content ? [[name, content]] : [],
  )
  if (read.length === 0) return
  for (const { name, holders, root: content } of files) {
    if (!content) continue
    const prefix = name === undefined ? '' : `/${filesMember}/${escape(name)}`
    for (const { object, key, pointer } of holders) object[key] = `#${prefix}${pointer}`
  }
  Object.assign(root, { [filesMember]: Object.fromEntries(read) })
}

/** Values of these members are data, and no parts of a document, unless they are names in a map of parts. */
const dataMembers: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples'])
const mapMembers: ReadonlySet<string> = new Set(['$defs', 'definitions', 'patternProperties', 'properties', 'schemas'])

/** Without recursion: a document may be nested as deep as its bytes allow. */
function* referencesIn(root: JsonObject) {
  const open: { readonly value: JsonValue; readonly member: string }[] = [{ value: root, member: '' }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, member } = next
    if (typeof value !== 'object' || value === null) continue
    const object = value as Record<string, JsonValue>
    const isMapping = member === 'mapping'
    for (const [key, part] of Object.entries(object)) {
      const isReference = key === '$ref' || (isMapping && typeof part === 'string' && /[#/.]/.test(part))
      if (isReference && typeof part === 'string') yield { object, key, reference: part }
      else if (mapMembers.has(member) || !dataMembers.has(key)) open.push({ value: part, member: key })
    }
  }
}

function plain(url: URL): string {
  return url.href.split('#')[0] ?? ''
}

/** The path of a file beside the document. */
function nameOf({ pathname, search }: URL, document: URL): string {
  return `${path.posix.relative(path.posix.dirname(document.pathname), pathname)}${search}`
}

function escape(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('%', '%25')
}
