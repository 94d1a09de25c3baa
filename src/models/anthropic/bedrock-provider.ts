import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk'
import { defined } from '../../common/defined.js'
import { clientOptions, createMessagesProvider } from './messages-provider.js'
import { resolveTimeouts } from '../http/endpoint-options.js'
import type { ModelProvider } from '../provider.js'
import type { BedrockProviderOptions } from './options.js'

/** Environment variables with credentials that AWS's own libraries read. */
const secretVariables = ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_BEARER_TOKEN_BEDROCK']

/**
 * Claude on Amazon Bedrock: the Messages API, signed and in AWS's event stream, which the SDK translates. AWS's
 * libraries find the credentials: variables, a profile, a role.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createBedrockProvider(options: BedrockProviderOptions = {}): ModelProvider {
  const { region, baseURL } = options
  const timeouts = resolveTimeouts(options)
  const client = new AnthropicBedrock({
    ...defined({ awsRegion: region, baseURL }),
    ...clientOptions(timeouts),
  })
  return createMessagesProvider({
    client,
    timeouts,
    secrets: () => secretVariables.flatMap((name) => process.env[name] ?? []),
    // Prices differ by region and profile.
    costOf: () => null,
    requestIdHeader: 'x-amzn-requestid',
    // These are betas on Bedrock, and so is the context management. Bedrock counts no tokens.
    hasInputExamples: false,
    hasToolSearch: false,
    hasNativeTools: false,
    samplingVersion: 'bedrock-2023-05-31',
    hints: {
      MODEL_AUTH:
        'Check the AWS credentials of the worker (variables, profile or role), and that they may use the model.',
      MODEL_NOT_FOUND: `Check the id of the model, and that region ${client.awsRegion} has it.`,
    },
  })
}
