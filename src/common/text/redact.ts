/** What a text is that durable-ptc writes where people read it. */
export interface RedactedText {
  /**
   * - `arguments`: one line about a call, with its arguments: activity summaries, current details, heartbeat details
   * - `output`: the end of what code has printed, in heartbeat details
   * - `code`: the code of a cell, in the audit log
   * - `question`: the question or program of a run: summary, details and memo
   * - `error`: message or stack of an error, in the log of `ptc worker`
   */
  readonly kind: 'arguments' | 'output' | 'code' | 'question' | 'error'
  /** Only of `arguments`. */
  readonly tool?: string
}

/** Returns the text as people may see it. */
export type Redact = (text: string, about: RedactedText) => string

/** Stands for a text that a hook could not redact. */
const failedText = '[not redacted: the hook failed]'

/** The hook, without its errors: a text that it fails on is left out, and whatever shows it goes on. */
export function safeRedact(hook: Redact): Redact {
  return (text, about) => {
    try {
      const redacted: unknown = hook(text, about)
      return typeof redacted === 'string' ? redacted : failedText
    } catch {
      return failedText
    }
  }
}

/** Of a configuration without a hook. */
export const unredacted: Redact = (text) => text
