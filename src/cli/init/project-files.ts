import { packageInfo } from '../../platform/package-info.js'

/** The script of the model for a project without an API key. `ptc init` writes it next to the configuration. */
export const scriptFileName = 'scripted-model.json'

export type ProjectFile = readonly [name: string, text: string]

/** A question that the scripted model of a new project can answer. */
export const exampleQuestion = 'Who spent more than 5,000 EUR on travel?'

const configuration = `import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const getExpenses = defineTool({
  name: 'get_expenses',
  description: 'Travel expenses of one employee (ada, lin or sam), as amounts in EUR.',
  input: z.object({ employee: z.enum(['ada', 'lin', 'sam']) }),
  output: z.array(z.number()),
  effect: 'read',
  run: ({ employee }) => ({ ada: [6200, 140], lin: [1800], sam: [] })[employee],
})

export default defineConfig({ tools: [getExpenses] })
`

const code = `names = ["ada", "lin", "sam"]
lists = await asyncio.gather(*[get_expenses(employee=name) for name in names])
for name, amounts in zip(names, lists):
    if sum(amounts) > 5000:
        print(name, sum(amounts), "EUR")
`

/**
 * One turn for any message of the user and one for any result, so that a conversation may have many messages.
 * `startScriptedMessagesApi` has its type, and checks it at the start.
 */
const script = [
  {
    match: { lastUserText: { pattern: '' } },
    reply: {
      content: [
        { type: 'text', text: 'I fetch the expenses of all employees in parallel.' },
        { type: 'tool_use', name: 'execute_code', input: { code } },
      ],
    },
  },
  {
    match: { lastToolResult: { pattern: '' } },
    reply: {
      content: [
        {
          type: 'text',
          text: `{{last_tool_result}}\n(A scripted model replied, because no API key was found. Its text is in ${scriptFileName}.)`,
        },
      ],
    },
  },
]

const environmentExample = `# Copy this file to .env, which \`ptc\` reads, and git ignores. Variables that are set already win.
# Without a key the model is scripted (${scriptFileName}).
ANTHROPIC_API_KEY=
`

/** The files of every new project. */
export function projectFiles(): readonly ProjectFile[] {
  return [
    ['ptc.config.ts', configuration],
    [scriptFileName, `${JSON.stringify(script, null, 2)}\n`],
    ['.env.example', environmentExample],
    ['.gitignore', 'node_modules/\n.ptc/\n.env\n'],
  ]
}

/** The package.json of a folder that has none. */
export function packageFile(name: string): ProjectFile {
  const { version, dependencies } = packageInfo()
  const content = {
    name,
    private: true,
    type: 'module',
    dependencies: { 'durable-ptc': `^${version}`, zod: dependencies['zod'] },
  }
  return ['package.json', `${JSON.stringify(content, null, 2)}\n`]
}
