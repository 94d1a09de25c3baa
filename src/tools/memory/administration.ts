import { currentVersion, ScopedMemory } from './scoped-memory.js'
import { checkScope } from './scope.js'
import type { ObjectStore } from '../../values/objects/object-store.js'

/** What a scope has. */
export interface ScopeSummary {
  readonly scope: string
  readonly files: number
  readonly bytes: number
  readonly changedAt: Date
}

export interface ExportedFile {
  readonly path: string
  readonly bytes: number
  readonly text: string
}

/** The memories of all scopes, for people. */
export interface MemoryAdministration extends AsyncDisposable {
  /** Name of the tool. */
  readonly name: string
  /** The scopes with files, in no order. */
  list(signal: AbortSignal): AsyncIterable<ScopeSummary>
  /** The files of a scope, all of one version. */
  export(scope: string, signal: AbortSignal): Promise<readonly ExportedFile[]>
  /** Returns what was there. With `dryRun`, nothing is removed. */
  erase(scope: string, dryRun: boolean, signal: AbortSignal): Promise<Pick<ScopeSummary, 'files' | 'bytes'>>
}

export class MemoryAdministrator implements MemoryAdministration {
  readonly name: string
  readonly #open: () => Promise<ObjectStore>
  #store: Promise<ObjectStore> | undefined

  constructor(name: string, open: () => Promise<ObjectStore>) {
    this.name = name
    this.#open = open
  }

  async *list(signal: AbortSignal): AsyncGenerator<ScopeSummary, void, undefined> {
    const store = await this.#opened()
    for await (const folder of store.folders(signal)) {
      if (!/^[0-9a-f]{64}$/.test(folder)) continue
      const { index } = await currentVersion(store, folder, signal)
      if (index.scope === undefined || index.files.length === 0) continue
      yield { scope: index.scope, ...sizeOf(index.files), changedAt: new Date(index.changedAt) }
    }
  }

  async export(scope: string, signal: AbortSignal): Promise<readonly ExportedFile[]> {
    const memory = new ScopedMemory(await this.#opened(), checkScope(scope))
    return memory.read(async ({ index: { files } }) => {
      const exported: ExportedFile[] = []
      for (const file of files) {
        const text = await memory.text(file, signal)
        if (text === undefined) return undefined
        exported.push({ path: file.path, bytes: file.bytes, text })
      }
      return exported
    }, signal)
  }

  async erase(scope: string, dryRun: boolean, signal: AbortSignal): Promise<Pick<ScopeSummary, 'files' | 'bytes'>> {
    const memory = new ScopedMemory(await this.#opened(), checkScope(scope))
    return sizeOf(dryRun ? (await memory.current(signal)).index.files : await memory.erase(signal))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#store)?.close()
  }

  #opened(): Promise<ObjectStore> {
    this.#store ??= this.#open()
    return this.#store
  }
}

function sizeOf(files: readonly { readonly bytes: number }[]): Pick<ScopeSummary, 'files' | 'bytes'> {
  return { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) }
}
