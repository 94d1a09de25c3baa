import type { LanguageModelV3 } from '@ai-sdk/provider'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { importOptional } from '../http/lazy-provider.js'
import type { AiSdkProviderOptions } from './options.js'

/** A vendor whose models are called with a package of the AI SDK. */
interface Vendor {
  /** The package keeps the members of a message of chat completions that it does not know. */
  readonly keepsExtras: boolean
  /** The system prompt is the `instructions` of the responses API, which stores nothing. */
  readonly hasInstructions: boolean
  /** Undefined: the package has its own. */
  readonly baseURL: string | undefined
  /** The environment variable with the key. Undefined: the package finds the key, or there is none. */
  readonly keyVariable: string | undefined
  /** @throws PtcError MODEL_PROVIDER_MISSING without the package, CONFIG_INVALID for one of another generation */
  model(id: string, key: string | undefined, send: typeof fetch): Promise<LanguageModelV3>
}

/** The name by which `@ai-sdk/openai-compatible` finds its options in a prompt. */
export const compatible = 'openaiCompatible'

export function vendorOf(options: AiSdkProviderOptions): Vendor {
  if (options.package !== undefined) return packagedVendor(options, options.package)
  const { api = 'chat', baseURL } = options
  const isOpenAI = baseURL === undefined
  const url = baseURL ?? (process.env['OPENAI_BASE_URL'] || 'https://api.openai.com/v1')
  // Values of the environment for OpenAI must not reach another server.
  const [organization, project] = isOpenAI ? [process.env['OPENAI_ORG_ID'], process.env['OPENAI_PROJECT_ID']] : []
  const headers = {
    ...(organization && { 'OpenAI-Organization': organization }),
    ...(project && { 'OpenAI-Project': project }),
  }
  const isChat = api === 'chat'
  const settings = { name: isChat ? compatible : 'openai', baseURL: url, headers, includeUsage: true }
  return {
    keepsExtras: isChat,
    hasInstructions: !isChat,
    baseURL: url,
    keyVariable: options.keyVariable ?? (isOpenAI ? 'OPENAI_API_KEY' : undefined),
    // Without a key, the package would look for that of OpenAI. The exchange removes this one.
    model: (id, apiKey = 'none', send) =>
      createModel(isChat ? '@ai-sdk/openai-compatible' : '@ai-sdk/openai', { ...settings, apiKey, fetch: send }, id),
  }
}

function packagedVendor({ baseURL, keyVariable, settings }: AiSdkProviderOptions, name: string): Vendor {
  return {
    keepsExtras: false,
    hasInstructions: name === '@ai-sdk/openai' || name === '@ai-sdk/azure',
    baseURL,
    keyVariable,
    model: (id, apiKey, send) =>
      createModel(
        name,
        {
          ...settings,
          ...defined({ baseURL, apiKey }),
          fetch: send,
        },
        id,
      ),
  }
}

type Create = (settings: object) => { readonly languageModel: (id: string) => LanguageModelV3 }

async function createModel(name: string, settings: object, id: string): Promise<LanguageModelV3> {
  const exported = await importOptional(name, () => import(name) as Promise<object>)
  const [, create] = Object.entries(exported).find(([each]) => /^create[A-Z]/.test(each)) ?? []
  const model = typeof create === 'function' ? (create as Create)(settings).languageModel(id) : undefined
  if (model?.specificationVersion === 'v3') return model
  throw new PtcError('CONFIG_INVALID', `package ${name} is not a provider for version 6 of the AI SDK`, {
    hint: 'Install a version of the package that depends on version 3 of @ai-sdk/provider.',
  })
}
