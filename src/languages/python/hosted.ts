import { codeExecutionTool } from '../../common/agent/hosted-code.js'
import type { HostedLanguage } from '../language.js'

export const hosted: HostedLanguage = {
  guidance: `\
You can run Python with ${codeExecutionTool}. Use it for anything that takes several tool calls, loops, or large results: \
write one program that makes the calls, works on their results, and prints only what you need.

- A tool resolves to a text. Parse it: \`json.loads(await tool({"name": "value"}))\`. A result that is text is no JSON.
- The text of a call that failed begins with its status: [tool_error], [invalid_arguments], [denied], [timed_out] or \
[outcome_unknown]. After [outcome_unknown] the call may or may not have happened: find out before you repeat it.
- Code waits about 4 minutes for a result. Call slow tools directly, if you can.`,

  /** The classes that the stub declares, and the return type of its function. */
  describeResult(stub) {
    const [classes = '', definition = ''] = stub.split(/^(?=async def )/m)
    const returned = /\) -> (.*):$/m.exec(definition)?.[1]
    if (returned === undefined) return undefined
    const parts = [classes.trim(), returned].filter((part) => part !== '')
    return ['The result, in Python types:', parts.join('\n\n')].join('\n')
  },
}
