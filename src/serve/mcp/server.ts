import { randomBytes } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  isCallToolResult,
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { messageOf } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import { packageInfo } from '../../platform/package-info.js'
import { noDecisions, parseRoundState, type RoundState, sendDecisions } from './decisions.js'
import { followCode, followNewRun, followWork } from './follow.js'
import { LinkedFiles, registerResources } from './files.js'
import type { McpHost, OfferedTools } from './host.js'
import { argumentsOf, errorResult, textResult } from './results.js'
import { createTask, registerTasks } from './tasks.js'
import { listServerTools, parseArguments, serverTools } from './tools.js'
import { type Follow, waitForWork } from './wait-for-work.js'
import { parseWorkId } from './work-id.js'

const instructions = `\
durable-ptc executes code in a sandbox and calls tools. Work is durable: it continues when a connection or a machine is \
lost. Prefer execute_code for several calls and for work on their results.`

/** Longer than a person takes for a decision. */
const decisionTimeoutMs = 24 * 60 * 60 * 1_000
const maxRounds = 1_000

/**
 * Creates the server of one connection, or of one request of the protocol of 2026.
 *
 * @param closing aborted when this process ends the connections by itself
 */
export function createServer(host: McpHost, closing: AbortSignal): McpServerFactory {
  const linked = new LinkedFiles()
  return ({ era, requestInfo }) => {
    const server = new Server(
      { name: 'durable-ptc', title: 'durable-ptc', version: packageInfo().version },
      {
        instructions,
        capabilities: {
          tools: {},
          resources: {},
          logging: {},
          ...(era === 'legacy' && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
        },
        inputRequired: { maxRounds, roundTimeoutMs: decisionTimeoutMs },
      },
    )
    // In the protocol of 2026, a client cancels a request over HTTP by closing its stream.
    const closeCancels = era === 'modern' && requestInfo !== undefined
    const connection = { session: `mcp-${randomBytes(6).toString('hex')}`, closeCancels, closing }
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has only this member
    server.onerror = host.onError
    server.setRequestHandler('tools/list', async () => ({ tools: [...listServerTools(await host.tools())] }))
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      try {
        const result = await callTool({ host, server, connection, params, context })
        if (isCallToolResult(result)) linked.add(result)
        return result
      } catch (thrown) {
        if (thrown instanceof ProtocolError || context.mcpReq.signal.aborted) throw thrown
        return errorResult(thrown instanceof z.ZodError ? new Error(z.prettifyError(thrown)) : thrown)
      }
    })
    registerResources(server, host, linked)
    if (era === 'legacy') registerTasks(server, host)
    return server
  }
}

interface Connection {
  /** The session of code that names none. */
  readonly session: string
  readonly closeCancels: boolean
  readonly closing: AbortSignal
}

interface ToolRequest {
  readonly host: McpHost
  readonly server: Server
  readonly connection: Connection
  readonly params: CallToolRequest['params']
  readonly context: ServerContext
}

/** @throws ProtocolError for an unknown tool; ZodError, PtcError */
async function callTool(request: ToolRequest): Promise<CallToolResult | InputRequiredResult> {
  const { host, params } = request
  const args = argumentsOf(params.arguments)
  const offered = await host.tools()
  if (params.name === serverTools.search) return textResult(offered.search(parseArguments('search', args).query), false)
  return wait(request, offered, workOf(request, args, offered))
}

interface Work {
  readonly follow: Follow
  readonly waitSeconds: number
  /** The code, when the request has it. */
  readonly source?: string | undefined
}

/** The work that a request starts, or waits for. @throws ProtocolError for an unknown tool; ZodError, PtcError */
function workOf({ host, connection, params: { name } }: ToolRequest, args: JsonObject, offered: OfferedTools): Work {
  const { ptc, values } = host
  const limit = offered.outputCharacters
  switch (name) {
    case serverTools.code: {
      const { code, language, session = connection.session, wait_seconds: waitSeconds } = parseArguments('code', args)
      return { follow: followCode(host, session, { code, language }, limit), waitSeconds, source: code }
    }
    case serverTools.agent: {
      const { wait_seconds: waitSeconds, ...input } = parseArguments('agent', args)
      return { follow: followNewRun(() => ptc.startAgent(input), { ptc, values, limit }), waitSeconds }
    }
    case serverTools.wait: {
      const { id, wait_seconds: waitSeconds } = parseArguments('wait', args)
      return { follow: followWork(host, parseWorkId(id), limit), waitSeconds }
    }
    default: {
      if (!offered.tools.some((tool) => tool.name === name))
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${name}`)
      const start = () => ptc.startCall({ tool: name, arguments: args })
      return { follow: followNewRun(start, { ptc, values, limit }), waitSeconds: directWaitSeconds }
    }
  }
}

/** The arguments of a tool of the configuration have no place for a time. */
const directWaitSeconds = 50

async function wait(
  { host, server, connection, params, context }: ToolRequest,
  offered: OfferedTools,
  { follow, waitSeconds, source }: Work,
): Promise<CallToolResult | InputRequiredResult> {
  const { mcpReq } = context
  const round = roundOf(mcpReq.requestState())
  const decisions = round ? await sendDecisions(host.ptc, round, mcpReq.inputResponses ?? {}) : noDecisions
  const limit = offered.outputCharacters
  const waited = await waitForWork(
    {
      signal: mcpReq.signal,
      isCancelled: () => isCancelled(mcpReq.signal.reason, connection),
      report: reporter(context),
      canAsk: canAsk(server, context),
      decisions,
      waitMs: waitSeconds * 1_000,
      isTask: params.task !== undefined,
    },
    round ? followWork(host, round.work, limit, source) : follow,
  )
  if (waited.type === 'started') return createTask(waited.id)
  return waited.type === 'questions' ? waited.questions : waited.result
}

/** @throws ProtocolError for a state that is not from this server */
function roundOf(state: unknown): RoundState | undefined {
  if (state === undefined) return undefined
  try {
    return parseRoundState(z.string().max(200_000).parse(state))
  } catch (thrown) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `the state of the request is not valid: ${messageOf(thrown)}`,
    )
  }
}

/** Invariant 1 of `index.ts`. */
function isCancelled(reason: unknown, { closeCancels, closing }: Connection): boolean {
  const isClosed = reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed
  return isClosed ? closeCancels && !closing.aborted : true
}

const capabilitiesSchema = z.object({
  elicitation: z.object({ form: z.unknown(), url: z.unknown() }).partial().optional(),
})

/** Whether the client shows forms to a person. In the protocol of 2026, each request has the capabilities. */
function canAsk(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {}
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
  const elicitation = capabilitiesSchema.safeParse(capabilities).data?.elicitation
  // Without modes, a client shows forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/**
 * Sends the progress of work to a client: as progress if it asked for that, else as messages of its log. The SDK sends
 * only messages of the level that the client has set, and in the protocol of 2026 only to one that has set a level.
 */
function reporter({ mcpReq }: ServerContext): (text: string) => void {
  const { _meta: meta } = mcpReq
  const progressToken = meta?.progressToken
  let progress = 0
  let last = ''
  return (message) => {
    if (message === last) return
    last = message
    progress += 1
    const sent =
      progressToken === undefined
        ? // oxlint-disable-next-line typescript/no-deprecated -- clients of 2025 have no other log
          mcpReq.log('info', message, 'durable-ptc')
        : mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
    // A client that has left gets nothing.
    sent.catch(() => undefined)
  }
}
