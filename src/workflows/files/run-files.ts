/*
 * The files of a run: uploads of clients, files that tools have returned, and artifacts of its code.
 *
 * Owns: which files there are, which of them the sandbox does not have yet, and what the model is told of them.
 * Boundary: data. `Session` writes and stores the bytes, which no workflow has.
 *
 * Invariants:
 * 1. An upload is in the sandbox before the next cell begins, also in a sandbox that starts empty again.
 * 2. The model is told of a file once, and sees at most {@link shownImages} of artifacts and tools.
 * 3. A file of a tool is in the sandbox before code gets its path, and before the next cell begins.
 */
import type { PendingBlock } from '../../common/agent/messages.js'
import {
  inputFolder,
  isToolFile,
  type KeptFiles,
  maxFiles,
  outputFolder,
  problemOfUploads,
  sharedFolder,
  type RunFilesConfig,
  type StoredFile,
} from '../../common/files/files.js'
import { attachmentLimits, isImageType, shownImages, tooManyImages } from '../../common/conversation/attachments.js'
import type { ExternalValue, ResultImages } from '../../common/json/external-value.js'
import { formatBytes } from '../../common/text/format.js'
import { pluralize, truncateEnd } from '../../common/text/text.js'

/** A file that a tool has returned. */
interface ReturnedFile {
  readonly file: StoredFile
  /**
   * `in_cell`: the sandbox has it from a step of the current cell, and loses it when this cell is dropped. `elsewhere`:
   * the code of a further session of the run has it, and the own sandbox does not need it.
   */
  readonly state: 'unwritten' | 'in_cell' | 'written' | 'elsewhere'
  /** A rule on data holds it back from those who get the answer. Absent: none does. */
  readonly isHeld?: true
}

export interface RunFilesState {
  readonly uploads: readonly StoredFile[]
  readonly artifacts: readonly StoredFile[]
  /** Number of the uploads at the end of `uploads` that the sandbox does not have yet. */
  readonly unwritten: number
  /** Uploads since the start of the run, replaced ones included. Absent: as many as there are in `uploads`. */
  readonly uploadCount?: number
  /** Blocks for the next message to the model. */
  readonly news: readonly PendingBlock[]
  readonly images: number
  /** Absent: none. */
  readonly returned?: readonly ReturnedFile[]
}

export class RunFiles {
  readonly #config: RunFilesConfig | undefined
  #state: RunFilesState
  /** Number of calls that will return a file. No call is in progress when a run continues as new. */
  #returning = 0

  /** @param config undefined: the run has no files */
  constructor(config: RunFilesConfig | undefined, state?: RunFilesState) {
    this.#config = config
    const uploads = config?.uploads ?? []
    this.#state = state ?? { uploads: [], artifacts: [], unwritten: 0, news: [], images: 0 }
    if (!state && uploads.length > 0) this.add(uploads)
  }

  /** Undefined: the run has no files, and no tool has returned an image. */
  get state(): RunFilesState | undefined {
    return this.#config || this.#state.images > 0 ? this.#state : undefined
  }

  /** The files of the run, the latest of each path, without those that were given to all sandboxes. */
  get all(): readonly StoredFile[] {
    const { uploads, artifacts } = this.#state
    const ofClients = uploads.filter(({ path }) => !path.startsWith(`${sharedFolder}/`))
    return [...ofClients, ...this.returned, ...artifacts]
  }

  /** The files of tools, without those that a rule on data holds back. */
  get returned(): readonly StoredFile[] {
    return this.#returned.flatMap(({ file, isHeld }) => (isHeld ? [] : [file]))
  }

  /** Whether the sandbox has files of tools, or will have them. */
  get hasReturned(): boolean {
    return this.#returned.some(({ state }) => state !== 'elsewhere')
  }

  /** Whether the run may have no further file of a tool. */
  get isFull(): boolean {
    return this.#state.uploads.length + this.#returned.length + this.#returning >= maxFiles
  }

  /** Returns why the run can't have more uploads; undefined when it can. */
  problemOf(uploads: unknown, tmpBytes: number): string | undefined {
    if (!this.#config) return 'it has no files: start it with `files: true`'
    const problem = problemOfUploads(uploads, tmpBytes)
    if (problem !== undefined) return problem
    const count = (uploads as readonly StoredFile[]).length + this.#state.uploads.length + this.#returned.length
    if (this.#returned.length > 0 && count > maxFiles) return `a run may have ${maxFiles} files, not ${count}`
    return problemOfUploads(latest([...this.#state.uploads, ...(uploads as readonly StoredFile[])]), tmpBytes)
  }

  /** Adds uploads, which {@link problemOf} has accepted. A file of the same path is replaced. */
  add(uploads: readonly StoredFile[]): void {
    const { uploads: earlier, unwritten, news } = this.#state
    const written = earlier.slice(0, earlier.length - unwritten)
    const waiting = latest([...earlier.slice(earlier.length - unwritten), ...uploads])
    const kept = written.filter(({ path }) => waiting.every((each) => each.path !== path))
    const lines = describeFiles(uploads)
    const text = `[files] The user has uploaded ${pluralize(uploads.length, 'file')}:\n${lines.join('\n')}`
    this.#state = {
      ...this.#state,
      uploads: [...kept, ...waiting],
      uploadCount: this.uploadCount + uploads.length,
      unwritten: waiting.length,
      news: [...news, { type: 'text', text }],
    }
  }

  get uploadCount(): number {
    return this.#state.uploadCount ?? this.#state.uploads.length
  }

  /** Returns the uploads that came after the first ones, for a further session of the run. */
  uploadsAfter(count: number): readonly StoredFile[] {
    const { uploads } = this.#state
    const missing = Math.min(this.uploadCount - count, uploads.length)
    return missing === 0 ? [] : uploads.slice(-missing)
  }

  /**
   * Gives an artifact, or a file of a tool, to all sandboxes of the run, as an upload in {@link sharedFolder}. The model
   * knows it.
   *
   * @param path among the files of the run
   * @returns the stored file; a text that says why it can't be given
   */
  share(path: string, tmpBytes: number): StoredFile | string {
    const found = [...this.#state.artifacts, ...this.returned].find((file) => file.path === path)
    if (!found) return 'no such file was kept'
    const { length } = isToolFile(found) ? inputFolder : outputFolder
    const shared = { ...found, path: `${sharedFolder}${path.slice(length)}` }
    const problem = this.problemOf([shared], tmpBytes)
    if (problem !== undefined) return problem
    const { news } = this.#state
    this.add([shared])
    this.#state = { ...this.#state, news }
    return shared
  }

  /** Returns the uploads that the sandbox needs before the next cell. */
  takeUnwritten(isSandboxEmpty: boolean): readonly StoredFile[] {
    const { uploads, unwritten } = this.#state
    this.#state = { ...this.#state, unwritten: 0 }
    return isSandboxEmpty ? uploads : uploads.slice(uploads.length - unwritten) // invariant 1
  }

  /** Executes a call that returns a file. */
  async whileReturning<Result>(execute: () => Promise<Result>): Promise<Result> {
    this.#returning += 1
    try {
      return await execute()
    } finally {
      this.#returning -= 1
    }
  }

  /** Adds a file that a tool has returned. @param isListed false: those who may read the answer do not get it */
  addReturned(file: StoredFile, isListed: boolean): void {
    this.#addReturned({ file, state: 'unwritten', ...(!isListed && { isHeld: true }) })
  }

  /** Adds a file that a tool has returned to the code of a further session of the run. */
  addReturnedElsewhere(file: StoredFile): void {
    this.#addReturned({ file, state: 'elsewhere' })
  }

  /** Called before a step of the current cell writes the file of a tool. */
  writeInCell({ path }: StoredFile): void {
    this.#setReturned(this.#returned.map((each) => (each.file.path === path ? { ...each, state: 'in_cell' } : each)))
  }

  /** Called when the current cell was dropped: the sandbox is as it was before the cell. */
  dropCell(): void {
    this.#setReturned(this.#returned.map((each) => (each.state === 'in_cell' ? { ...each, state: 'unwritten' } : each)))
  }

  /** Returns the files of tools that the sandbox needs before the next cell: invariant 3. */
  takeReturned(isSandboxEmpty: boolean): readonly StoredFile[] {
    const own = this.#returned.filter(({ state }) => state !== 'elsewhere')
    const needed = own.filter(({ state }) => isSandboxEmpty || state === 'unwritten')
    this.#setReturned(this.#returned.map((each) => (own.includes(each) ? { ...each, state: 'written' } : each)))
    return needed.map(({ file }) => file)
  }

  /** Returns what the model is told of a file that it has got from a tool. An image is in its next message. */
  describeReturned(file: StoredFile): string {
    if (isShown(file) && this.imagesLeft > 0) this.#addImages(1, imageBlocks(file))
    return describeFile(file, true)
  }

  /** The images that the model may see of a direct call. */
  get imagesLeft(): number {
    const { news, images } = this.#state
    const ofTurn = news.filter(({ type }) => type === 'image').length
    return Math.max(0, Math.min(shownImages.ofTurn - ofTurn, shownImages.ofRun - images))
  }

  /**
   * Shows images of the result of a direct call with the next message.
   *
   * @param tool has returned them
   * @returns for the model, which images are not shown; empty when all are
   */
  showImages(tool: string, { shown: found, note }: ResultImages): string {
    const shown = found.slice(0, this.imagesLeft)
    const blocks = shown.flatMap(({ name, mediaType, data }) => imageBlock(`[${name}] of ${tool}:`, mediaType, data))
    this.#addImages(shown.length, blocks)
    // Calls of one turn are executed in parallel, and each has the limit of all.
    const others = found.slice(shown.length).map(({ name }) => `[${name}] is not shown: ${tooManyImages}`)
    return [note, ...others].filter((line) => line !== '').join('\n')
  }

  #addImages(count: number, blocks: readonly PendingBlock[]): void {
    const { news, images } = this.#state
    this.#state = { ...this.#state, news: [...news, ...blocks], images: images + count } // invariant 2
  }

  get #returned(): readonly ReturnedFile[] {
    return this.#state.returned ?? []
  }

  #addReturned(added: ReturnedFile): void {
    this.#setReturned([...this.#returned.filter(({ file }) => file.path !== added.file.path), added])
  }

  #setReturned(returned: readonly ReturnedFile[]): void {
    if (returned.length > 0) this.#state = { ...this.#state, returned }
  }

  /** Records the artifacts of a cell. Their images are in the next message to the model. */
  addArtifacts(files: readonly StoredFile[]): void {
    const { artifacts, images } = this.#state
    const { ofTurn, ofRun } = shownImages
    const shown = files.filter(isShown).slice(0, Math.min(ofTurn, ofRun - images))
    this.#state = { ...this.#state, artifacts: latest([...artifacts, ...files]).slice(-maxFiles) }
    this.#addImages(shown.length, shown.flatMap(imageBlocks))
  }

  /** Returns the blocks for the next message to the model. */
  takeNews(): readonly PendingBlock[] {
    const { news } = this.#state
    if (news.length > 0) this.#state = { ...this.#state, news: [] }
    return news
  }
}

function latest(files: readonly StoredFile[]): readonly StoredFile[] {
  const byPath = new Map<string, StoredFile>()
  for (const file of files) {
    byPath.delete(file.path)
    byPath.set(file.path, file)
  }
  return [...byPath.values()]
}

function imageBlocks({ path, mediaType, parts: [data] }: StoredFile): readonly PendingBlock[] {
  return data === undefined ? [] : imageBlock(`[files] ${path}:`, mediaType, data)
}

function imageBlock(title: string, mediaType: string, data: ExternalValue): readonly PendingBlock[] {
  return [
    { type: 'text', text: title },
    { type: 'image', source: { type: 'base64', media_type: mediaType, data } },
  ]
}

function isShown({ mediaType, bytes, pixels, parts }: StoredFile): boolean {
  const isSmall = bytes <= attachmentLimits.imageBytes && parts.length === 1
  return (
    isImageType(mediaType) &&
    isSmall &&
    pixels !== undefined &&
    Math.max(pixels.width, pixels.height) <= shownImages.pixels
  )
}

/** Describes the artifacts of a cell for the model; empty when there are none. */
export function describeKept({ files, lost }: KeptFiles): readonly string[] {
  if (files.length === 0 && lost.length === 0) return []
  const kept = files.length === 0 ? [] : [`[files] ${pluralize(files.length, 'file')} kept from ${outputFolder}:`]
  const problems = lost.map(
    ({ path, problem }) => `[files] not kept: ${truncateEnd(path, maxPathCharacters)}: ${problem}`,
  )
  return [...kept, ...describeFiles(files), ...firstOf(problems)]
}

/** What the model is told of many files at once. It finds the others in the folder. */
const described = { files: 20, previews: 3 } as const

/** A hostile sandbox chooses the paths of files that were not kept. */
const maxPathCharacters = 200

function describeFiles(files: readonly StoredFile[]): readonly string[] {
  return firstOf(files.map((file, index) => describeFile(file, index < described.previews)))
}

function firstOf(lines: readonly string[]): readonly string[] {
  const others = lines.length - described.files
  return others > 0 ? [...lines.slice(0, described.files), `[files] and ${others} more`] : lines
}

function describeFile({ path, bytes, mediaType, pixels, preview }: StoredFile, hasPreview: boolean): string {
  const size = pixels === undefined ? '' : `, ${pixels.width} x ${pixels.height} pixels`
  const line = `${path} (${mediaType}, ${formatBytes(bytes)}${size})`
  return preview === undefined || !hasPreview ? line : `${line}\n${preview.replaceAll(/^/gm, '  ')}`
}
