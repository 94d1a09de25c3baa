import type { ModelProvider } from '../provider.js'

/** A provider whose SDK is loaded by its first call. */
export interface LazyProvider extends ModelProvider {
  /**
   * Loads the SDK now. Node remembers that an import has failed, so a process in which this fails can't call a model.
   *
   * @throws the error of the import, for example without file descriptors
   */
  load(): Promise<void>
}

/**
 * The provider that `load` creates, with the first call. The modules of an SDK would take a fifth of the start of a
 * worker, and not every worker calls a model.
 *
 * @param load imports the SDK
 */
export function lazyProvider(name: string, load: () => Promise<ModelProvider>): LazyProvider {
  let loading: Promise<ModelProvider> | undefined
  let closed = false
  const provider = async (): Promise<ModelProvider> => {
    const loaded = await (loading ??= load())
    if (closed) await loaded.close()
    return loaded
  }
  return {
    name,
    load: async () => void (await provider()),
    turn: async (request, options) => (await provider()).turn(request, options),
    close: async () => {
      closed = true
      await (await loading)?.close()
    },
  }
}
