import type { ModelId } from '../../common/run/run-config.js'
import { findModel } from './find-model.js'
import { defaultProvider } from './model-name.js'

// Source: platform.claude.com/docs/en/about-claude/models/overview and the pages of the models, as of November 2026.
// Fable 5.2, Mythos 5, Mythos 5.2 and Mythos Preview have no confirmed window.
const contextWindows: Readonly<Record<string, number>> = {
  'claude-fable-5-1': 1_000_000,
  'claude-mythos-5-1': 1_000_000,
  'claude-fable-5': 1_000_000,
  'claude-opus-5-5': 1_000_000,
  'claude-opus-5': 1_000_000,
  'claude-opus-4-8': 1_000_000,
  'claude-opus-4-7': 1_000_000,
  'claude-opus-4-6': 1_000_000,
  'claude-opus-4-5': 200_000,
  'claude-sonnet-5-5': 1_000_000,
  'claude-sonnet-5': 1_000_000,
  'claude-sonnet-4-6': 1_000_000,
  'claude-sonnet-4-5': 200_000,
  'claude-haiku-5-5': 1_000_000,
  'claude-haiku-4-5': 200_000,
}

/** Tokens of the context window; undefined when it is unknown (test models, other vendors). */
export function contextWindowOf({ provider, name }: Pick<ModelId, 'provider' | 'name'>): number | undefined {
  return provider === defaultProvider ? findModel(contextWindows, name) : undefined
}
