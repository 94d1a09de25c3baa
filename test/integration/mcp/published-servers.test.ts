import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { TestEnvironment } from '../../support/environment/test-environment.js'

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

it('code calls the tools of server-everything', async () => {
  const env = await TestEnvironment.start({
    mcp: { demo: { command: process.execPath, args: [everything, 'stdio'], approval: 'never' } },
  })
  const { outcome } = await env.runProgram(`
print(await demo__echo(message="hi"))
print((await demo__get_structured_content(location="Chicago"))["conditions"])
print([block["type"] for block in await demo__get_tiny_image()])
print("SECRET" in await demo__get_env())
print(await demo__get_sum(a=1, b=2))
`)
  expect(outcome).toMatchObject({ status: 'ok', output: expect.stringContaining('Echo: hi') })
  console.log(outcome)
})
