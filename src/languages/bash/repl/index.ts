import type { Repl } from '../../language.js'
import { isCompleteBlock } from './block.js'

const words =
  'case cd declare do done echo elif else esac exit export fi for function if in local printf read return set shift source test then trap unset until wait while tool'

/** As at bash's own prompt. */
export const repl: Repl = {
  prompts: { first: '$ ', next: '> ' },
  indentation: '  ',
  names: words.split(' '),
  isCompleteBlock,
  continuesBlock: () => false,
  displayValueOf: (block) => block,
}
