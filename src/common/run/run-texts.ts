import { defaultLanguageName, memoKeys } from '../names.js'
import { type LanguageChoice, languageNamesOf } from './language-names.js'
import { toOneLine, toPlainLine, utf8Length } from '../text/text.js'

/** Texts about a run for lists of runs and the Temporal UI. They are options of the start. */
export interface RunTexts {
  readonly staticSummary: string
  readonly staticDetails: string
  /** A list of runs contains the memo, but would need one more request per run for the summary. */
  readonly memo: Readonly<Record<string, string>>
}

/**
 * Describes a run by its question, its program, or its call. The text may come from a model, so its Markdown is escaped for the UI.
 *
 * @param text the question, the program, or the tool with its arguments
 * @param language of a program, or its languages. Undefined: unknown, or the default language
 */
export function describeRun(
  kind: 'agent' | 'program' | 'call',
  text: string,
  language: LanguageChoice = defaultLanguageName,
): RunTexts {
  const summary = toSummary(text)
  return {
    staticSummary: summary,
    staticDetails: toCodeBlock(text, (kind === 'program' && languageNamesOf(language)[0]) || 'text'),
    memo: { [memoKeys.summary]: summary },
  }
}

/** The first 200 characters of a question or program in one line, without Markdown links and control characters. */
export function toSummary(text: string): string {
  return toOneLine(toPlainLine(text.slice(0, maxScannedCharacters)))
}

/** Maximum characters that are read: enough for 200 characters of text after much white space. */
const maxScannedCharacters = 20_000

/** Temporal rejects details over 20 KB. A longer fence can make them three times as long. */
const maxDetailsBytes = 6_000

function toCodeBlock(text: string, language: string): string {
  const code = truncate(text).replace(/[\p{Cf}\p{Surrogate}]|(?![\n\t])\p{Cc}/gu, '')
  // The fence must be longer than any fence in the text.
  const longest = Math.max(0, ...[...code.matchAll(/`{3,}/g)].map(([fence]) => fence.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}${language}\n${code}\n${fence}`
}

function truncate(text: string): string {
  if (text.length <= maxDetailsBytes && utf8Length(text) <= maxDetailsBytes) return text
  let kept = Array.from(text.slice(0, maxDetailsBytes))
  while (utf8Length(kept.join('')) > maxDetailsBytes) kept = kept.slice(0, Math.floor(kept.length * 0.8))
  return `${kept.join('')}\n…`
}
