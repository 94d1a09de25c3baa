/** Returns a text as a literal in a list filter of Temporal. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}
