import { z } from 'zod'
import type { Agent } from '../../agents/agent.js'
import { PtcError } from '../../common/errors.js'
import type { AgentResult, AgentStatus } from '../../common/run/runs.js'

/** The result of an agent with this output schema. Without a schema, the answer is only the text. */
export type AgentResultOf<Output extends z.ZodType> = [Output] extends [z.ZodUndefined]
  ? AgentResult
  : Omit<AgentResult, 'status' | 'output'> &
      (
        | { readonly status: 'answered'; readonly output: z.output<Output> }
        | { readonly status: Exclude<AgentStatus, 'answered'>; readonly output?: undefined }
      )

/**
 * Parses the output of a run with the schema of the agent: applies its defaults and transforms.
 *
 * @throws PtcError RUN_OUTPUT_INVALID when the worker had another schema
 */
export async function parseResult<Output extends z.ZodType>(
  { name, output: schema }: Agent<Output>,
  result: AgentResult,
): Promise<AgentResultOf<Output>> {
  // These are the cases of the type: an agent without a schema, or a run without an answer.
  if (schema === undefined || result.status !== 'answered') return result as AgentResultOf<Output>
  const parsed = await z.safeParseAsync(schema, result.output)
  if (parsed.success) return { ...result, output: parsed.data } as AgentResultOf<Output>
  const problems = z.prettifyError(parsed.error)
  throw new PtcError('RUN_OUTPUT_INVALID', `the answer does not fit the output schema of agent ${name}:\n${problems}`, {
    hint: 'The worker that started the run had another definition of the agent, or the schema has checks of its own.',
    cause: parsed.error,
  })
}
