import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { isMap, LineCounter, parseDocument, type Document } from 'yaml'
import type { z } from 'zod'
import { messageOf, PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import { hasErrorCode } from '../../common/system-error.js'
import { decodeText } from '../../common/text/decode-text.js'
import { pluralize } from '../../common/text/text.js'
import { didYouMean } from '../../common/text/unknown-keys.js'
import { type TaskFile, taskSchema } from './task-schema.js'

/** A task, with the contents of its files. */
export interface EvalTask extends Omit<TaskFile, 'name'> {
  readonly name: string
  /** Path of the task file. */
  readonly path: string
  readonly folder: string
  /** Digest of the task file and of all files in the folder of the task. */
  readonly digest: string
  /** Value of `input_data`. Absent: none. */
  readonly inputData?: JsonValue
  /** What the modules of the task export, by their paths in the task. */
  readonly modules: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  /** The contents of programs and scripts, by their paths in the task. */
  readonly texts: ReadonlyMap<string, string>
}

export interface LoadTasksOptions {
  /** Files and folders: of one task, or of many. */
  readonly paths: readonly string[]
  /** Loads a module of TypeScript or JavaScript. */
  readonly importModule: (path: string) => Promise<Readonly<Record<string, unknown>>>
  /** Base of relative paths, and of paths in messages. */
  readonly baseDirectory?: string
}

/** Names of the file of a task in its own folder. */
const taskFileNames = ['task.yaml', 'task.yml', 'task.json']
const extensions = ['.yaml', '.yml', '.json']

const maxTasks = 2_000
const maxTaskFileBytes = 256 * 1024
const maxFiles = 500
const maxBytesOfTask = 8_000_000

/**
 * Reads and checks tasks. All problems of all files are reported in one error.
 *
 * @throws PtcError EVAL_TASK_INVALID
 */
export async function loadTasks(options: LoadTasksOptions): Promise<readonly EvalTask[]> {
  const { paths, importModule, baseDirectory = process.cwd() } = options
  const display = (path: string): string => relative(baseDirectory, path) || path
  const problems: string[] = []
  const tasks: EvalTask[] = []
  for (const path of paths) {
    const files = await findTaskFiles(resolve(baseDirectory, path)).catch((thrown: unknown) => {
      problems.push(hasErrorCode(thrown, 'ENOENT') ? `${path}: there is no such file or folder` : messageOf(thrown))
      return []
    })
    for (const file of files) {
      try {
        tasks.push(await loadTask(file, display(file), importModule))
      } catch (thrown) {
        problems.push(messageOf(thrown))
      }
    }
  }
  const byName = new Map<string, EvalTask>()
  for (const task of tasks) {
    const other = byName.get(task.name)
    if (other !== undefined && other.path !== task.path)
      problems.push(`${display(task.path)}: name: ${display(other.path)} has the same name, ${task.name}`)
    byName.set(task.name, task)
  }
  if (problems.length > 0) throw invalid(problems)
  return [...byName.values()]
}

function invalid(problems: readonly string[]): PtcError {
  return new PtcError(
    'EVAL_TASK_INVALID',
    `the tasks have ${pluralize(problems.length, 'problem')}:\n${problems.join('\n')}`,
    {
      hint: 'docs/guides/evals.md describes task files.',
    },
  )
}

/** The task files of a path: the file itself, the one in its folder, or those of the folders in it. */
async function findTaskFiles(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const own = await taskFileIn(path)
  if (own !== undefined) return [own]
  const entries = (await readdir(path, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const found: string[] = []
  for (const entry of entries) {
    const child = join(path, entry.name)
    const file = entry.isDirectory() ? await taskFileIn(child) : extensions.includes(extname(child)) ? child : undefined
    if (file !== undefined) found.push(file)
    if (found.length > maxTasks) throw new Error(`${path}: it has more than ${maxTasks} tasks`)
  }
  if (found.length === 0) throw new Error(`${path}: it has no task: no ${taskFileNames[0]}, and no folder with one`)
  return found
}

async function taskFileIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder)
  const name = taskFileNames.find((each) => names.includes(each))
  return name === undefined ? undefined : join(folder, name)
}

async function loadTask(
  path: string,
  display: string,
  importModule: LoadTasksOptions['importModule'],
): Promise<EvalTask> {
  const text = await readBounded(path, display, maxTaskFileBytes)
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, schema: 'core', prettyErrors: false })
  const syntax = document.errors.map(({ message, pos }) => `${display}:${lineCounter.linePos(pos[0]).line}: ${message}`)
  if (syntax.length > 0) throw new Error(syntax.join('\n'))
  const parsed = taskSchema.safeParse(toJson(document, display))
  if (!parsed.success) throw new Error(describe(parsed.error, document, lineCounter, display).join('\n'))
  const file = parsed.data
  const folder = dirname(path)
  const isFolder = taskFileNames.includes(basename(path))
  const name = file.name ?? nameOf(isFolder ? basename(folder) : basename(path, extname(path)))
  if (name === undefined) throw new Error(`${display}: name: is missing, and the name of the file is not one`)
  const reader = new TaskFiles(folder, display)
  const inputData = await readInput(file, reader)
  const modules = new Map<string, Readonly<Record<string, unknown>>>()
  for (const each of modulePathsOf(file)) modules.set(each, await reader.importModule(each, importModule))
  const texts = new Map<string, string>()
  for (const each of textPathsOf(file)) texts.set(each, await reader.text(each))
  for (const each of file.setup.attachments ?? []) await reader.text(each, 'binary')
  checkModules(file, modules, display)
  // A task that is one file has only the files that it names.
  const digest = isFolder ? await digestOfFolder(folder, display) : digestOf([[basename(path), text], ...reader.read])
  return { ...file, name, path, folder, digest, modules, texts, ...(inputData !== undefined && { inputData }) }
}

function toJson(document: Document, display: string): unknown {
  if (!isMap(document.contents)) throw new Error(`${display}:1: a task is an object with the keys prompt and check`)
  try {
    // A date and other types of YAML become JSON.
    return JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 100 }))) as unknown
  } catch (thrown) {
    throw new Error(`${display}: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** A line for each problem: `task.yaml:12: check.0.number: …`. */
function describe(error: z.ZodError, document: Document, lines: LineCounter, display: string): readonly string[] {
  return error.issues.slice(0, 50).map((issue) => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : []
    const at = [...issue.path, ...keys.slice(0, 1)].map((part) => (typeof part === 'symbol' ? String(part) : part))
    const hint = keys.length === 0 ? '' : didYouMean(keys[0] ?? '', taskKeys)
    const field = issue.path.map(String).join('.')
    return `${display}:${lineOf(document, at, lines)}: ${field === '' ? '' : `${field}: `}${issue.message}${hint}`
  })
}

const taskKeys = Object.keys(taskSchema.shape)

/** The line of a value, or of the innermost value around it that exists. */
function lineOf(document: Document, path: readonly (string | number)[], lines: LineCounter): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
    if (Array.isArray(range) && typeof range[0] === 'number') return lines.linePos(range[0]).line
  }
  return 1
}

function nameOf(text: string): string | undefined {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  return name === '' || name.length > 60 ? undefined : name
}

/** Files of a task, bounded together. */
class TaskFiles {
  readonly #folder: string
  readonly #display: string
  readonly read: [string, string | Buffer][] = []
  #bytes = 0

  constructor(folder: string, display: string) {
    this.#folder = folder
    this.#display = display
  }

  async text(path: string, encoding: 'text' | 'binary' = 'text'): Promise<string> {
    const bytes = await readFile(join(this.#folder, path)).catch((thrown: unknown) => {
      throw new Error(
        `${this.#display}: ${path}: ${hasErrorCode(thrown, 'ENOENT') ? 'there is no such file' : messageOf(thrown)}`,
      )
    })
    this.#bytes += bytes.length
    if (this.#bytes > maxBytesOfTask) throw new Error(`${this.#display}: its files have over ${maxBytesOfTask} bytes`)
    this.read.push([path, bytes])
    return encoding === 'binary' ? '' : decodeText(bytes, `${this.#display}: ${path}`, 'EVAL_TASK_INVALID')
  }

  async json(path: string): Promise<JsonValue> {
    const text = await this.text(path)
    try {
      return JSON.parse(text) as JsonValue
    } catch (thrown) {
      throw new Error(`${this.#display}: ${path} is not JSON: ${messageOf(thrown)}`, { cause: thrown })
    }
  }

  async importModule(path: string, load: LoadTasksOptions['importModule']): Promise<Readonly<Record<string, unknown>>> {
    await this.text(path)
    try {
      return await load(join(this.#folder, path))
    } catch (thrown) {
      throw new Error(`${this.#display}: ${path} can't be loaded: ${messageOf(thrown)}`, { cause: thrown })
    }
  }
}

async function readInput(file: TaskFile, reader: TaskFiles): Promise<JsonValue | undefined> {
  const { input, inputFile, files } = file.setup
  if (inputFile !== undefined) return reader.json(inputFile)
  if (files === undefined) return input
  const contents: Record<string, string> = {}
  for (const each of files) contents[each] = await reader.text(each)
  return contents
}

function modulePathsOf({ setup, check }: TaskFile): ReadonlySet<string> {
  const checks = check.flatMap(({ module }) => module?.file ?? [])
  return new Set([...(setup.module === undefined ? [] : [setup.module]), ...checks])
}

function textPathsOf({ check, scripts }: TaskFile): ReadonlySet<string> {
  return new Set([...check.flatMap(({ program }) => program ?? []), ...Object.values(scripts)])
}

function checkModules(file: TaskFile, modules: EvalTask['modules'], display: string): void {
  for (const [index, { module }] of file.check.entries()) {
    if (module === undefined || typeof modules.get(module.file)?.[module.export] === 'function') continue
    throw new Error(`${display}: check.${index}.module: ${module.file} exports no function ${module.export}`)
  }
}

async function readBounded(path: string, display: string, maxBytes: number): Promise<string> {
  const { size } = await stat(path)
  if (size > maxBytes) throw new Error(`${display}: it has ${size} bytes; a task file has up to ${maxBytes}`)
  return decodeText(await readFile(path), display, 'EVAL_TASK_INVALID')
}

/** Digest of all files of a folder: a changed tool or check is another task. */
async function digestOfFolder(folder: string, display: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  if (files.length > maxFiles) throw new Error(`${display}: its folder has over ${maxFiles} files`)
  const contents: [string, Buffer][] = []
  for (const file of files.toSorted()) contents.push([relative(folder, file), await readFile(file)])
  return digestOf(contents)
}

function digestOf(contents: readonly (readonly [string, string | Buffer])[]): string {
  const hash = createHash('sha256')
  for (const [path, content] of contents) {
    hash.update(`${path.length}:${path}:${content.length}:`)
    hash.update(content)
  }
  return hash.digest('hex').slice(0, 32)
}
