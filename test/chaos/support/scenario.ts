import type { AgentResult } from '../../../src/common/runs.js'
import { call, code, text, turn } from '../../support/script.js'

/**
 * What is disturbed: sequential and parallel calls, a tool that says no and is caught, a large value, somebody who takes longer to
 * approve than a sandbox waits, a history that ends in the middle of a cell, variables from cell to cell, a direct call beside a cell,
 * and a call that must not be repeated.
 */
const cells = [
  `
import asyncio
done = [(await charge(name="a"))["done"]]
done += [r["done"] for r in await asyncio.gather(charge(name="b"), charge(name="c"))]
try:
    await refuse(name="this")
except ToolError as no:
    done.append(str(no))
large = await fetch_text(characters=200_000)
print(done, len(large))
`,
  `
done.append((await approve(name="d"))["done"])
for n in range(4):
    done.append((await charge(name=f"e{n}"))["done"])
try:
    done.append((await send_once(name="mail"))["done"])
except ToolOutcomeUnknown as unknown:
    done.append(unknown.status)
print(len(done), large[-3:])
`,
  `
done.append((await charge(name="f"))["done"])
print(",".join(done), len(large))
`,
]

export const script = [
  turn(code(cells[0] ?? '')),
  turn(code(cells[1] ?? '')),
  turn(call('charge', { name: 'g' }), code(cells[2] ?? '')),
  turn(text('{{last_tool_result}}')),
]

/** Names of effects that happen exactly once, whatever is killed. */
export const effects = ['a', 'b', 'c', 'd', 'e0', 'e1', 'e2', 'e3', 'f', 'g'] as const

/** What must not be repeated: it happens once, or its outcome is unknown. */
export const onceEffect = 'mail'

export const turnCount = script.length

/**
 * Events after which a history ends: in the middle of the second cell. Without faults it is somewhere between its calls e0 and e3: 91
 * events are before the approval, which is to be waited for without a sandbox, and a slow machine or a dead worker adds some.
 */
export const historyEvents = 160

/** Milliseconds until somebody approves; longer than a sandbox is kept for that. */
export const approvalMs = 2_000

/** What a run comes to. */
export function expectedResult(mailOutcome: 'mail' | 'outcome_unknown'): Partial<AgentResult> {
  const done = `a,b,c,never this,d,e0,e1,e2,e3,${mailOutcome},f`
  return { status: 'answered', answer: `${done} 200000`, turns: turnCount, cells: cells.length, toolCalls: 13 }
}
