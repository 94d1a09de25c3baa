import type { AgentInput, AgentResult } from '../../../src/common/runs/runs.js'
import { call, code, text, turn } from '../../support/script.js'

/**
 * The scenario: sequential, parallel and local calls, a tool that fails with ToolError, a large value, an approval that
 * takes longer than the idle timeout of a sandbox, a continue-as-new in the middle of a cell, variables shared by cells,
 * a direct call beside a cell, a `once` call, a deferred call, a call of another worker, a call that a person approves,
 * a budget that pauses the run after the second turn until it is raised, and input data. Its live stream is read
 * meanwhile.
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
done.append(sum([await double(n=n) for n in range(5)]))
done.append((await approve(name="d"))["done"])
for n in range(8):
    done.append((await charge(name=f"e{n}"))["done"])
try:
    done.append((await send_once(name="mail"))["done"])
except ToolOutcomeUnknown as unknown:
    done.append(unknown.status)
print(len(done), large[-3:])
`,
  `
done.append((await charge(name=input_data["last"]))["done"])
done.append((await confirm(name="h"))["done"])
done.append((await charge_elsewhere(name="i"))["done"])
done.append((await charge_approved(name="j"))["done"])
print(",".join(map(str, done)), len(large))
`,
]

/** The answer to the second message of a conversation. */
export const secondAnswer = 'That was all.'

export const script = [
  turn(code(cells[0] ?? '')),
  turn(code(cells[1] ?? '')),
  turn(call('charge', { name: 'g' }), code(cells[2] ?? '')),
  turn(text('{{last_tool_result}}')),
  // Only in a conversation: the answer to its second message.
  turn(text(secondAnswer)),
]

export const agentInput = {
  agent: 'clerk',
  input: { last: 'f' },
  context: { user: 'ann', tenant: 'acme' },
} satisfies Partial<AgentInput>

const sequentialEffects = ['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7'] as const

/** After it the run soon pauses. */
export const lastSequentialEffect = 'e7'

/** Names of effects that must be applied exactly once, whatever is killed. */
export const effects = ['a', 'b', 'c', 'd', ...sequentialEffects, 'f', 'g', 'h', 'i', 'ask j', 'j'] as const

/** Name of the deferred effect. */
export const deferredEffect = 'h'

/** Name of the effect that tells people of a call that waits for approval. */
export const approvalRequest = 'ask j'

/** Name of the `once` effect: applied once, or its outcome is unknown. */
export const onceEffect = 'mail'

/** Turns of the first message. */
export const turnCount = script.length - 1

/**
 * Number of events after which the run continues as new: in the middle of the second cell. Without faults this is
 * between its calls e0 and e7: 60 events precede the approval, during which the session must be parked, and a slow
 * machine or a dead worker adds some.
 */
export const historyEvents = 100

/** Name of the effect whose reply comes when the sandbox has been parked. */
export const approvedEffect = 'd'

/** The expected result of a run. */
export function expectedResult(mailOutcome: 'mail' | 'outcome_unknown'): Partial<AgentResult> {
  const done = ['a,b,c,never this', 20, 'd', ...sequentialEffects, mailOutcome, 'f', 'h', 'i', 'j'].join(',')
  return { status: 'answered', answer: `${done} 200000`, turns: turnCount, cells: cells.length, toolCalls: 25 }
}
