import { formatCompactNumber } from '../text/text.js'

/** Characters per token, close to the tokenizers of Claude for English, code and JSON. For estimates only. */
const charactersPerToken = 3.5

/** Approximates the tokens of a text, where no provider has counted them. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken)
}

/** Returns the characters of this number of tokens: the inverse of {@link estimateTokens}. */
export function estimateCharacters(tokens: number): number {
  return Math.floor(tokens * charactersPerToken)
}

/** The usage of a model's context window. */
export interface ContextUse {
  /** Prompt and output tokens of the last turn. */
  readonly tokens: number
  /** Tokens of the context window. Undefined: unknown. */
  readonly window: number | undefined
}

/** Returns a text such as `context 41 % of 200.0k tokens`. */
export function describeContextUse({ tokens, window }: ContextUse): string {
  if (window === undefined) return `context ${formatCompactNumber(tokens)} tokens of an unknown window`
  return `context ${Math.round((100 * tokens) / window)} % of ${formatCompactNumber(window)} tokens`
}
