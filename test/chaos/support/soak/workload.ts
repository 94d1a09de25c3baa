import type { AgentResult, ProgramResult } from '../../../../src/common/run/runs.js'
import type { Script } from '../../../../src/testing/index.js'
import { answerResult, call, code, turn } from '../../../support/script.js'

/** What a run of the soak does, and what it must have done at its end. */
export interface SoakRun {
  readonly workflowId: string
  readonly work:
    | { readonly kind: 'program'; readonly source: string }
    | { readonly kind: 'agent'; readonly question: string }
  /** Names of effects that happen exactly once. */
  readonly effects: readonly string[]
  /** Names of effects that happen exactly once, or at most once if the run says that their outcome is unknown. */
  readonly onceEffects: readonly string[]
  /** The parts of its output, in order; one of {@link onceEffects} may be {@link unknownOutcome}. */
  readonly output: readonly string[]
  readonly toolCalls: number
}

/** Outcome of a `once` call in the output of a run. */
export const unknownOutcome = 'outcome_unknown'

/** The effect with a large argument and result, which are stored by reference. */
const largeCharacters = 60_000

const separator = ','

const helpers = `
import asyncio
async def once(call):
    try:
        return (await call)["done"]
    except ToolOutcomeUnknown as unknown:
        return unknown.status
done = []
`

/**
 * The n-th run, counted from 0: one in three is an agent, the others are programs. All make sequential and parallel
 * calls, local calls and `once` calls, and sleep; one in five has a large value. Names of effects are unique.
 */
export function soakRun(number: number): SoakRun {
  return isAgent(number) ? agentRun(number) : programRun(number)
}

function isAgent(number: number): boolean {
  return number % 3 === 2
}

function programRun(number: number): SoakRun {
  const name = `program-${number}`
  const first = names(name, 'a', 5)
  const parallel = names(name, 'p', 4)
  const last = names(name, 'z', 5)
  const local = [`${name}-local`]
  const once = [`${name}-once`, `${name}-local-once`]
  const large = number % 5 === 0 ? [`${name}-${'v'.repeat(largeCharacters)}`] : []
  const source = `${helpers}
for n in range(${first.length}):
    done.append((await charge(name=f"${name}-a{n}"))["done"])
done += [each["done"] for each in await asyncio.gather(*[charge(name=f"${name}-p{n}") for n in range(${parallel.length})])]
done.append((await mark(name="${local[0]}"))["done"])
done.append(await once(send_once(name="${once[0]}")))
await asyncio.sleep(1)
done.append(await once(mark_once(name="${once[1]}")))
${large.length > 0 ? `large = (await charge(name="${name}-" + "v" * ${largeCharacters}))["done"]` : 'large = ""'}
for n in range(${last.length}):
    done.append((await charge(name=f"${name}-z{n}"))["done"])
done.append(str(len(large)))
print("${separator}".join(done))
`
  return {
    workflowId: `soak-${name}`,
    work: { kind: 'program', source },
    effects: [...first, ...parallel, ...local, ...large, ...last],
    onceEffects: once,
    output: [...first, ...parallel, ...local, ...once, ...last, String(large[0]?.length ?? 0)],
    toolCalls: first.length + parallel.length + local.length + once.length + large.length + last.length,
  }
}

function agentRun(number: number): SoakRun {
  const name = `agent-${number}`
  const first = names(name, 'a', 5)
  const local = names(name, 'l', 3)
  const last = names(name, 'z', 4)
  const once = [`${name}-once`]
  return {
    workflowId: `soak-${name}`,
    work: { kind: 'agent', question: questionOf(number) },
    effects: [...first, ...local, `${name}-direct`, ...last],
    onceEffects: once,
    output: [...first, ...local, ...once, ...last],
    toolCalls: first.length + local.length + 1 + once.length + last.length,
  }
}

/** Turns of an agent: a cell, a direct call beside a cell, and the answer. */
const agentTurns = 3

/** The replies of the model to the agents among the first runs. */
export function soakScript(runs: number): Script {
  const numbers = Array.from({ length: runs }, (_, number) => number)
  return { conversations: numbers.filter(isAgent).map(conversation) }
}

function conversation(number: number) {
  const name = `agent-${number}`
  const first = `${helpers}
for n in range(5):
    done.append((await charge(name=f"${name}-a{n}"))["done"])
for n in range(3):
    done.append((await mark(name=f"${name}-l{n}"))["done"])
print(len(done))
`
  const second = `
await asyncio.sleep(1)
done.append(await once(send_once(name="${name}-once")))
for n in range(4):
    done.append((await charge(name=f"${name}-z{n}"))["done"])
print("${separator}".join(done))
`
  return {
    match: { firstUserText: questionOf(number) },
    turns: [turn(code(first)), turn(call('charge', { name: `${name}-direct` }), code(second)), answerResult],
  }
}

/** No question is a part of another one. */
function questionOf(number: number): string {
  return `Charge for [agent ${number}].`
}

function names(run: string, group: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `${run}-${group}${number}`)
}

export interface CheckedResult {
  /** Differences from what the run must return. */
  readonly problems: readonly string[]
  /** `once` effects whose outcome the run does not know. */
  readonly unknown: readonly string[]
}

export function checkResult(run: SoakRun, result: AgentResult | ProgramResult): CheckedResult {
  const printed = outputOf(result)
  const parts = printed.split(separator)
  const unknown = run.onceEffects.filter((name) => parts[run.output.indexOf(name)] === unknownOutcome)
  const expected = run.output.map((part) => (unknown.includes(part) ? unknownOutcome : part)).join(separator)
  const problems = [
    ...(printed === expected ? [] : [`${run.workflowId} returned ${JSON.stringify(result).slice(0, 2_000)}`]),
    ...(result.toolCalls === run.toolCalls ? [] : [`${run.workflowId} counts ${result.toolCalls} calls`]),
    ...('answer' in result && result.turns !== agentTurns ? [`${run.workflowId} had ${result.turns} turns`] : []),
  ]
  return { problems, unknown }
}

function outputOf(result: AgentResult | ProgramResult): string {
  if ('answer' in result) return result.status === 'answered' ? result.answer.trim() : ''
  return result.outcome.status === 'ok' ? result.outcome.output.trim() : ''
}
