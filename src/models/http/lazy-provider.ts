import { PtcError } from '../../common/errors.js'
import { hasErrorCode } from '../../common/system-error.js'
import type { ModelProvider } from '../provider.js'

/**
 * The provider that `load` creates in the first call. The modules of an SDK would take a fifth of the start of a
 * worker, and not every worker calls a model. Node remembers that an import has failed, so a process in which it fails
 * can't call the model.
 *
 * @param load imports the SDK
 */
export function lazyProvider(load: () => Promise<ModelProvider>): ModelProvider {
  let loading: Promise<ModelProvider> | undefined
  let closed = false
  const provider = async (): Promise<ModelProvider> => {
    const loaded = await (loading ??= load())
    if (closed) await loaded.close()
    return loaded
  }
  return {
    load: async () => void (await provider()),
    turn: async (request, options) => (await provider()).turn(request, options),
    countTokens: async (request, options) => (await provider()).countTokens?.(request, options),
    close: async () => {
      closed = true
      await (await loading)?.close()
    },
  }
}

/**
 * Loads a module that needs a package which may not be installed.
 *
 * @throws PtcError MODEL_PROVIDER_MISSING
 */
export async function importOptional<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (thrown) {
    if (!hasErrorCode(thrown, 'ERR_MODULE_NOT_FOUND')) throw thrown
    throw new PtcError('MODEL_PROVIDER_MISSING', `the models of this provider need package ${name}`, {
      hint: `Install it with durable-ptc: npm install ${name}.`,
      cause: thrown,
    })
  }
}
