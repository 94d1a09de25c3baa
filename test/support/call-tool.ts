import type { Tool, ToolContext } from '../../src/index.js'

/** Makes one attempt of a call in this process, without an engine: arguments and result pass the schemas of the tool. */
export async function callTool(tool: Tool, input: unknown, context: Partial<ToolContext> = {}): Promise<unknown> {
  const { signal } = new AbortController()
  const run = { namespace: 'test', workflowId: 'run', runId: 'run', agent: undefined }
  const own: Partial<ToolContext> = { signal, run, ...context }
  return tool.output.parseAsync(await tool.run(await tool.input.parseAsync(input), own as ToolContext))
}
