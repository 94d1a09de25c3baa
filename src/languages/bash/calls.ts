/**
 * The names of the tools that a text calls in bash, if it consists of lines such as `tool NAME parameter=value`. Empty
 * for any other text.
 */
export function callsIn(text: string): readonly string[] {
  const lines = text.trim().split('\n')
  const names = lines.flatMap((line) => /^\s*tool ([A-Za-z_][\w.-]{0,199})(?: [^|&;<>()]*)?$/.exec(line)?.[1] ?? [])
  return names.length === lines.length ? names : []
}
