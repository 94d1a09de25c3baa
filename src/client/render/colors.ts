import picocolors from 'picocolors'

export type Colors = ReturnType<typeof picocolors.createColors>

export function colorsFor(color: boolean): Colors {
  return picocolors.createColors(color)
}

/** Colours are for a terminal, and only where nobody said no (`NO_COLOR`, any value) or said yes (`FORCE_COLOR`). */
export function wantsColor(
  stream: { readonly isTTY?: boolean | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if (environment['NO_COLOR']) return false
  const force = environment['FORCE_COLOR']
  if (force !== undefined) return force !== '0' && force !== 'false'
  return stream.isTTY === true && environment['TERM'] !== 'dumb'
}
