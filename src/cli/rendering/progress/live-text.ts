import { createColors } from '../text/colors.js'
import { formatLine, part } from '../text/line.js'
import { textBlock } from '../text/text-block.js'
import { takeEnd } from '../../../common/text/text.js'

/** Text that the model is writing, or that code has printed. */
export interface LiveText {
  readonly type: 'text' | 'code' | 'output'
  readonly text: string
}

const maxLines = 8
/** More than a screen shows. */
const maxCharacters = 4_000

/** The end of a live text as lines of a terminal, each with its line break. */
export function renderLiveText({ type, text }: LiveText, terminalColumns: number, color: boolean): readonly string[] {
  const colors = createColors(color)
  // One column stays empty.
  const columns = terminalColumns - 1
  const style = type === 'code' ? 'cyan' : 'plain'
  const options = { columns: columns - 2, style, limit: maxLines, keep: 'tail', prose: true } as const
  return textBlock(takeEnd(text, maxCharacters), options).map(
    (line) => `${formatLine([part('│ ', 'dim'), ...line], columns, colors)}\n`,
  )
}
