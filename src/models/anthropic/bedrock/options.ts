import type { ProviderTimeouts } from '../../http/endpoint-options.js'

export interface BedrockProviderOptions extends Partial<ProviderTimeouts> {
  /** Default: `AWS_REGION`, or else us-east-1. */
  readonly region?: string
  /** Default: `ANTHROPIC_BEDROCK_BASE_URL`, or else the endpoint of the region. */
  readonly baseURL?: string
}
