import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { defaultModel } from '../facts/prices.js'
import { type ModelNames, parseModelNames } from '../facts/model-name.js'
import type { OpenAIApi } from '../ai-sdk/options.js'
import type { ModelProvider } from '../provider.js'

/** The address of a provider's models, or your own provider. */
export type ProviderOption =
  | AnthropicProviderOption
  | OpenAIProviderOption
  | BedrockProviderOption
  | AiSdkProviderOption
  | ModelProvider

/** The Messages API of Anthropic, or of a compatible server. */
export interface AnthropicProviderOption {
  readonly kind: 'anthropic'
  /** Default: `ANTHROPIC_BASE_URL`, or else Anthropic's API. */
  readonly baseURL?: string | undefined
  /** The environment variable that has the key. Default: the credentials that Anthropic's SDK finds. */
  readonly apiKey?: { readonly environment: string } | undefined
}

/** OpenAI, or a compatible server: Ollama, vLLM, Gemini and others. */
export interface OpenAIProviderOption {
  readonly kind: 'openai'
  /** `chat` (default): chat completions. `responses`: the responses API, which keeps reasoning over turns. */
  readonly api?: OpenAIApi | undefined
  /** Most end with `/v1`. Default: `OPENAI_BASE_URL`, or else OpenAI's API. */
  readonly baseURL?: string | undefined
  /** The environment variable that has the key. Default: `OPENAI_API_KEY`; with a `baseURL` no key. */
  readonly apiKey?: { readonly environment: string } | undefined
  /**
   * The system prompt describes the tools, too, for models whose template ignores `tools`.
   * Default: true with a `http:` base URL, which is that of a server of one's own.
   */
  readonly toolsInSystemPrompt?: boolean | undefined
}

/** Claude on Amazon Bedrock, with package `@anthropic-ai/bedrock-sdk`. AWS's libraries find the credentials. */
export interface BedrockProviderOption {
  readonly kind: 'bedrock'
  /** Default: `AWS_REGION`, or else us-east-1. */
  readonly region?: string | undefined
  /** Default: the endpoint of the region. */
  readonly baseURL?: string | undefined
}

/** Models of any vendor, with its package of the AI SDK: `@ai-sdk/google`, `@ai-sdk/azure` and others. */
export interface AiSdkProviderOption {
  readonly kind: 'ai-sdk'
  /** A package for version 6 of the AI SDK, installed beside durable-ptc. */
  readonly package: string
  /** Default: that of the package. */
  readonly baseURL?: string | undefined
  /** The environment variable that has the key. Default: the credentials that the package finds. */
  readonly apiKey?: { readonly environment: string } | undefined
  /** Other settings of the package, such as `{ resourceName: 'mine' }` of Azure. No secrets. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
}

const text = z.string().min(1)

const endpoint = { baseURL: text.optional(), apiKey: z.strictObject({ environment: text }).optional() }

const option = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('anthropic'), ...endpoint }),
    z.strictObject({
      kind: z.literal('openai'),
      api: z.enum(['chat', 'responses']).optional(),
      toolsInSystemPrompt: z.boolean().optional(),
      ...endpoint,
    }),
    z.strictObject({ kind: z.literal('bedrock'), region: text.optional(), baseURL: text.optional() }),
    z.strictObject({
      kind: z.literal('ai-sdk'),
      package: text,
      settings: z
        .record(
          z.string().regex(/^(?!.*(?:key|secret|password|token)$)/i, 'is a secret: leave it to the environment'),
          z.unknown(),
        )
        .optional(),
      ...endpoint,
    }),
  ],
  'must have a kind ("anthropic", "openai", "bedrock" or "ai-sdk"), or be a ModelProvider',
)

const provider = z.custom<ProviderOption>().superRefine((value, context) => {
  if (isModelProvider(value)) return
  for (const { path, message } of option.safeParse(value).error?.issues ?? []) {
    context.addIssue({ code: 'custom', path, message })
  }
})

export const providersOption = z.record(z.string().regex(/^[A-Za-z][\w.-]*$/), provider)

export function isModelProvider(value: unknown): value is ModelProvider {
  const isFunction = (name: string) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function'
  return typeof value === 'object' && value !== null && isFunction('turn') && isFunction('close')
}

/** The names of the providers whose API executes code, or has its own context management. */
export function providersWith(
  ability: 'hostsCode' | 'managesContext',
  providers: Readonly<Record<string, ProviderOption>>,
): readonly string[] {
  const isAble = (option: ProviderOption) =>
    isModelProvider(option) ? option[ability] === true : option.kind === 'anthropic'
  return Object.entries(providers).flatMap(([name, option]) => (isAble(option) ? [name] : []))
}

/** The providers of every configuration. An entry of the same name replaces one. */
const builtInProviders = {
  anthropic: { kind: 'anthropic' },
  openai: { kind: 'openai' },
  bedrock: { kind: 'bedrock' },
  google: vendor('google', 'GOOGLE_GENERATIVE_AI_API_KEY'),
  mistral: vendor('mistral', 'MISTRAL_API_KEY'),
  groq: vendor('groq', 'GROQ_API_KEY'),
  xai: vendor('xai', 'XAI_API_KEY'),
  azure: vendor('azure', 'AZURE_API_KEY'),
  // Its package finds the credentials of AWS.
  'amazon-bedrock': { kind: 'ai-sdk', package: '@ai-sdk/amazon-bedrock' },
} as const satisfies Readonly<Record<string, ProviderOption>>

function vendor(name: string, environment: string): AiSdkProviderOption {
  return { kind: 'ai-sdk', package: `@ai-sdk/${name}`, apiKey: { environment } }
}

export function withBuiltInProviders(
  configured: Readonly<Record<string, ProviderOption>>,
): Readonly<Record<string, ProviderOption>> {
  return { ...builtInProviders, ...configured }
}

/**
 * Parses names of models in the configuration.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function configuredModel(
  names: ModelNames = defaultModel,
  providers: Readonly<Record<string, ProviderOption>>,
  where = 'model.name',
): ReturnType<typeof parseModelNames> {
  try {
    return parseModelNames(names, Object.keys(providers))
  } catch (thrown) {
    if (!PtcError.isInstance(thrown)) throw thrown
    const { message, hint } = thrown
    throw new PtcError('CONFIG_INVALID', `${where}: ${message}`, hint === undefined ? {} : { hint })
  }
}
