import { expect, it, onTestFinished, vi } from 'vitest'
import type { ApprovalRequest } from '../../../src/config/options/approvals.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { publishedDocument } from '../../support/openapi/openapi-tools.js'
import { RecordingServer } from '../../support/openapi/recording-server.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { gitHubDocument } from '../../support/openapi/file-of-package.js'

/** Petstore, on a server of the test. */
async function petstore() {
  const server = await RecordingServer.start()
  const document = publishedDocument('@readme/oas-examples/3.0/json/petstore.json')
  return { server, options: { document, baseUrl: server.url } }
}

it('an agent and its code call the operations of an API, with its credential', async () => {
  vi.stubEnv('KEY_OF_TEST', 'the-key-of-the-test')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { server, options } = await petstore()
  server.answer = ({ method, url, headers }, response) => {
    const known = { id: Number(url.split('/').at(-1)), name: 'Rex', photoUrls: [], key: headers['api_key'] }
    if (url === '/pet/404') response.writeHead(404).end('{"message":"no such pet"}')
    else if (method === 'DELETE') response.writeHead(204).end()
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(known))
  }
  const env = await TestEnvironment.start({
    credentials: { key: { environment: 'KEY_OF_TEST' } },
    openapi: { pets: { ...options, approval: 'never', credentials: { api_key: '${key}' } } },
    script: [
      turn(call('pets__getPetById', { petId: 1 })),
      turn(
        code(`
print((await pets__getPetById(petId=2))["name"])
print((await pets__getPetById(petId=2)).get("key"))
print(await pets__deletePet(petId=3))
try: await pets__getPetById(petId=404)
except ToolError as error: print(error)
try: await pets__getPetById(petId="../user")
except ToolError as error: print(type(error).__name__)
`),
      ),
      answerResult,
    ],
  })
  const handle = await env.startAgent()
  await handle.result()
  expect(JSON.stringify(env.api.requests.at(-1)?.body)).toContain('Rex')
  const output = JSON.stringify(env.lastUserContent())
  expect(output).toContain('Rex\\n[credential key]\\nNone\\nHTTP 404 Not Found: {')
  expect(output).not.toContain('the-key-of-the-test')
  expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /pet/1',
    'GET /pet/2',
    'GET /pet/2',
    'DELETE /pet/3',
    'GET /pet/404',
  ])
  await env.expectCleanEnd(handle)
})

it('a program calls operations, and each write is approved', async () => {
  const { server, options } = await petstore()
  const requests: ApprovalRequest[] = []
  const env = await TestEnvironment.start({
    openapi: { pets: options },
    approvals: { onRequest: (request) => void requests.push(request) },
  })
  const handle = await env.startProgram(`
print(await pets__findPetsByStatus(status=["available", "sold"]))
print(await pets__addPet(body={"name": "Rex", "photoUrls": []}))
`)
  const request = await vi.waitUntil(() => requests[0], { timeout: 60_000 })
  expect(request).toMatchObject({ tool: 'pets__addPet', arguments: { body: { name: 'Rex' } } })
  expect(server.requests.map(({ method }) => method)).toEqual(['GET'])
  await env.ptc.approveCall(request.token)
  const { outcome } = (await handle.result()) as { readonly outcome: { readonly output: string } }
  expect(outcome.output).toBe('{}\n{}\n')
  expect(server.last).toMatchObject({ method: 'POST', url: '/pet', body: '{"name":"Rex","photoUrls":[]}' })
  await env.expectCleanEnd(handle)
})

it('a write whose answer is lost is sent once, and code learns that its outcome is unknown', async () => {
  const { server, options } = await petstore()
  server.answer = (_, response) => void response.destroy()
  const env = await TestEnvironment.start({ openapi: { pets: { ...options, approval: 'never' } } })
  const { outcome } = await env.runProgram(`
try: await pets__addPet(body={"name": "Rex", "photoUrls": []})
except ToolOutcomeUnknown: print("unknown")
`)
  expect(outcome).toMatchObject({ status: 'ok', output: 'unknown\n' })
  expect(server.requests).toHaveLength(1)
})

it('a read and a write with an idempotency key are repeated after a failure, with the same key', async () => {
  const { server, options } = await petstore()
  server.answer = (_, response) => void response.writeHead(server.requests.length % 2 === 1 ? 503 : 200).end()
  const env = await TestEnvironment.start({
    openapi: { pets: { ...options, approval: 'never', idempotencyKeyHeader: 'Idempotency-Key' } },
  })
  const { outcome } = await env.runProgram(`
print(await pets__getPetById(petId=1))
print(await pets__addPet(body={"name": "Rex", "photoUrls": []}))
`)
  expect(outcome).toMatchObject({ status: 'ok', output: 'None\nNone\n' })
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST', 'POST'])
  const keys = server.requests.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([undefined, undefined, expect.any(String), keys[2]])
})

it("an agent searches GitHub's operations, and its code calls one of them", async () => {
  const server = await RecordingServer.start((_, response) => void response.end('{"full_name":"octocat/hello"}'))
  const document = await gitHubDocument()
  const env = await TestEnvironment.start({
    openapi: { github: { document, baseUrl: server.url } },
    script: [
      turn(call('search_tools', { query: 'github__repos_get' })),
      turn(code('print((await github__repos_get(owner="octocat", repo="hello"))["full_name"])')),
      answerResult,
    ],
  })
  const handle = await env.startAgent()
  await handle.result()
  const found = JSON.stringify(env.api.requests[1]?.body)
  expect(found).toContain('async def github__repos_get(')
  expect(JSON.stringify(env.lastUserContent())).toContain('octocat/hello')
  expect(server.last.url).toBe('/repos/octocat/hello')
  await env.expectCleanEnd(handle)
})
