import picocolors from 'picocolors'

export type Colors = ReturnType<typeof picocolors.createColors>

export function createColors(color: boolean): Colors {
  return picocolors.createColors(color)
}

/** Whether to use colours: on a terminal, unless `NO_COLOR` is set to any value; always with `FORCE_COLOR`. */
export function supportsColor(
  stream: { readonly isTTY?: boolean | undefined },
  environment: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  if (environment['NO_COLOR']) return false
  const force = environment['FORCE_COLOR']
  if (force !== undefined) return force !== '0' && force !== 'false'
  return stream.isTTY === true && environment['TERM'] !== 'dumb'
}

/** The columns of stdout and whether to use colours there. Undefined columns: unlimited. */
export function stdoutLayout(): { readonly width: number | undefined; readonly color: boolean } {
  const { stdout } = process
  return { width: stdout.isTTY ? stdout.columns : undefined, color: supportsColor(stdout) }
}
