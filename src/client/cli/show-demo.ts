import type { BackendChoice } from '../../common/plan.js'
import { loadExample } from '../../worker/demo/index.js'
import { renderTable, summaryRows, wantsColor } from '../render/index.js'
import { openDemoPlace } from './demo-place.js'
import { exitCodes } from './exit-code.js'
import { announce, follow } from './follow.js'
import { aborted, catchInterrupts } from './interrupts.js'
import { showEnding } from './show-ending.js'
import { printDrawn, say } from './terminal.js'

/** The team-expense question from start to end, and what it took. */
export async function showDemo(sandbox: BackendChoice | undefined): Promise<void> {
  using interrupts = catchInterrupts()
  const example = await loadExample()
  await using place = await openDemoPlace(example, sandbox, interrupts)
  const handle = await place.ptc.startAgent({ question: example.question })
  say(`\n${example.question}\n`)
  announce(handle, place)
  const followed = await follow(handle, { place, interrupts, onInterrupt: 'cancel' })
  say('')
  process.exitCode = showEnding(followed, false)
  if (process.exitCode !== exitCodes.ok) return
  const width = process.stdout.isTTY ? process.stdout.columns : 80
  const rows = summaryRows(followed.tree).map(
    ([name, value]) => [place.scripted && name === 'cost' ? freeCost : name, value] as const,
  )
  printDrawn(`\n${renderTable(rows, { width, color: wantsColor(process.stdout, process.env) })}`)
  if (!place.isOurs) return
  if (process.stdin.isTTY && process.stdout.isTTY) {
    say('\nThe Temporal UI stays up for a look at the run; Ctrl-C ends the demo.')
    await Promise.race([aborted(interrupts.first), place.lost])
  }
  say('\nThe server ends with the demo. `ptc dev` brings it back, and the run with it, in the same folder.')
}

/** The script's tokens cost nothing; what the model it plays would have cost is still worth knowing. */
const freeCost = 'cost with the real model (the script is free)'
