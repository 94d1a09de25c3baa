import { z } from 'zod'
import type { Externalizable } from '../../../common/json/external-value.js'
import { codeExecutionTool } from '../../../common/agent/hosted-code.js'
import { externalizableString } from '../values/external-values.js'
import type { CodeToolUse } from './content-blocks.js'
import type { Block } from './payload-schemas.js'

/** The end of code that Anthropic executes. */
interface HostedCodeEnd {
  readonly toolUseId: string
  readonly status: 'ok' | 'code_error' | 'timed_out' | 'lost'
  readonly stdout: Externalizable<string>
  readonly stderr: Externalizable<string>
  /** Undefined: the code was stopped. */
  readonly exitCode: number | undefined
  readonly error: string | undefined
}

/** The information in a reply about code that Anthropic executes. */
export interface HostedCode {
  readonly begun: readonly CodeToolUse[]
  readonly ended: readonly HostedCodeEnd[]
  /** The server tool use of each call of code, by tool_use id. */
  readonly callers: ReadonlyMap<string, string>
}

const codeUse = z.object({
  type: z.literal('server_tool_use'),
  id: z.string(),
  name: z.literal(codeExecutionTool),
  input: z.object({ code: externalizableString }),
})
const codeResult = z.object({
  type: z.string(),
  tool_use_id: z.string(),
  content: z.union([
    z.object({ error_code: z.string() }),
    z.object({ stdout: externalizableString, stderr: externalizableString, return_code: z.number() }),
  ]),
})
const codeCall = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  caller: z.object({ tool_id: z.string() }),
})

export function hostedCodeOf(blocks: readonly Block[]): HostedCode {
  return {
    begun: blocks.flatMap((block) => {
      const { data } = codeUse.safeParse(block)
      return data ? [{ toolUseId: data.id, code: data.input.code }] : []
    }),
    ended: blocks.flatMap((block) => {
      const { data } = codeResult.safeParse(block)
      return data ? [endOf(data)] : []
    }),
    callers: new Map(
      blocks.flatMap((block) => {
        const { data } = codeCall.safeParse(block)
        return data ? [[data.id, data.caller.tool_id]] : []
      }),
    ),
  }
}

function endOf({ tool_use_id: toolUseId, content }: z.infer<typeof codeResult>): HostedCodeEnd {
  if ('error_code' in content) {
    const status = content.error_code === 'execution_time_exceeded' ? 'timed_out' : 'lost'
    return { toolUseId, status, stdout: '', stderr: '', exitCode: undefined, error: content.error_code }
  }
  const { stdout, stderr, return_code: exitCode } = content
  const printed = { toolUseId, stdout, stderr, exitCode }
  if (exitCode === 0) return { ...printed, status: 'ok', error: undefined }
  return { ...printed, status: 'code_error', error: `the code ended with ${exitCode}` }
}
