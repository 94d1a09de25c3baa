import { credentialNamePattern } from '../credentials/credential-source.js'

/** `${NAME}` in a text of the configuration stands for a credential. */
const credentialReference = new RegExp(`\\$\\{(${credentialNamePattern.source.slice(1, -1)})\\}`, 'g')

/** The names of the credentials that the texts refer to, each once. */
export function credentialNamesIn(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => [...text.matchAll(credentialReference)].map(([, name = '']) => name)))]
}

/** The text with the values of the credentials that it refers to. */
export function fillCredentials(text: string, valueOf: (name: string) => string): string {
  return text.replaceAll(credentialReference, (_, name: string) => valueOf(name))
}

/** The texts with the values of the credentials that they refer to. */
export function withCredentials(
  texts: Readonly<Record<string, string>>,
  credentials: ReadonlyMap<string, string>,
): Record<string, string> {
  const valueOf = (name: string) => credentials.get(name) ?? ''
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fillCredentials(text, valueOf)]))
}
