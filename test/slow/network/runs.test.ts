import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { AuditEvent } from '../../../src/audit/index.js'
import { defineAgent } from '../../../src/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { runWithLostSandbox } from '../../support/environment/rebuilt-agent.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, code, turn } from '../../support/script.js'
import { body, startWebServer } from '../../support/web/web-server.js'

/** Programs do not use the proxy for 127.0.0.1, so they write the address of the server in another way. */
const urlOf = (port: number, path = '/') => `http://127.1:${port}${path}`

const get = (url: string) => `import urllib.request\nprint(urllib.request.urlopen('${url}').read().decode())`

describeDocker('runs with a network', () => {
  it('the model is told of the hosts, code gets no secret, and the audit log has each request before it is sent', async () => {
    const file = join(await temporaryFolder(), 'audit.jsonl')
    const readEvents = async () =>
      (await readFile(file, 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as AuditEvent)
    const startedBefore: boolean[] = []
    const server = await startWebServer({
      '/data': (response, { headers }) => {
        const answer = async (): Promise<void> => {
          const events = await readEvents()
          startedBefore.push(events.some(({ type }) => type === 'request.started'))
          response.end(headers['x-key'] === 'secret-value of network for "acme"' ? 'authorized' : 'who are you?')
        }
        void answer()
      },
    })
    const { port } = server
    const env = await TestEnvironment.start({
      backend: 'docker',
      audit: { file },
      credentials: {
        api_key: ({ tool, context }) => `secret-value of ${tool} for ${JSON.stringify(context['tenant'])}`,
      },
      network: { allow: ['example.com', { host: `127.0.0.1:${port}`, headers: { 'X-Key': '${api_key}' } }] },
      script: [
        turn(code(`${get(urlOf(port, '/data'))}\nimport os\nprint('secret' in str(os.environ))`)),
        turn(code(get(urlOf(1)))),
        answerResult,
      ],
    })
    const handle = await env.startAgent({ context: { tenant: 'acme', user: 'ada' } })
    const result = await env.agentResult(handle)
    expect(result.status).toBe('answered')
    const prompt = JSON.stringify(env.api.requests[0]?.body)
    expect(prompt).toContain('no network but the hosts below')
    expect(prompt).toContain(
      `through the proxy in its environment: example.com, 127.0.0.1:${port} (by http:// URLs only).`,
    )
    const sent = JSON.stringify(env.api.requests.at(-1)?.body)
    expect(sent).toContain('authorized\\nFalse')
    expect(sent).toContain('HTTP Error 403: 127.0.0.1:1 is not allowed')
    expect(startedBefore).toEqual([true])
    const events = (await readEvents()).filter(({ type }) => type.startsWith('request.'))
    const common = {
      tenant: 'acme',
      user: 'ada',
      cell: 1,
      step: 1,
      epoch: 1,
      request: 1,
      host: '127.0.0.1',
      method: 'GET',
    }
    expect(events).toMatchObject([
      { type: 'request.started', ...common, port },
      { type: 'request.completed', ...common, port, status: 200, bytesReceived: 10 },
      { type: 'request.refused', ...common, cell: 2, step: 2, port: 1, rule: 'host' },
    ])
    const { events: history } = await env.history(handle)
    for (const text of [JSON.stringify(events), JSON.stringify(history), sent])
      expect(text).not.toContain('secret-value')
    await env.expectCleanEnd(handle)
  })

  it('an agent has hosts of its own, or none', async () => {
    const server = await startWebServer({ '/': body('reached') })
    const address = `127.0.0.1:${server.port}`
    const basis = { instructions: 'Test.' }
    const env = await TestEnvironment.start({
      backend: 'docker',
      network: { allow: ['example.com'] },
      agents: [
        defineAgent({ ...basis, name: 'reader', network: { allow: [address] } }),
        defineAgent({ ...basis, name: 'writer', network: false }),
      ],
      script: [turn(code(get(urlOf(server.port)))), answerResult],
    })
    const reader = await env.startAgent({ agent: 'reader' })
    expect(await env.agentResult(reader)).toMatchObject({ answer: 'reached' })
    const writer = await env.startAgent({ agent: 'writer' })
    expect(await env.agentResult(writer)).toMatchObject({ answer: expect.stringContaining('Connection refused') })
    expect(server.requested).toEqual(['/'])
    await env.expectCleanEnd(reader)
    await env.expectCleanEnd(writer)
  })

  it('a rebuild sends the requests again, and continues when the code makes the same calls', async () => {
    const server = await startWebServer({ '/': body('same') })
    const fetched = `import urllib.request\nfound = urllib.request.urlopen('${urlOf(server.port)}').read().decode()`
    const { result, notes } = await runWithLostSandbox(
      'docker',
      [`${fetched}\nawait note(found=found)\nprint(await wait(), found)`],
      { network: { allow: [`127.0.0.1:${server.port}`] } },
    )
    expect(result).toMatchObject({ status: 'answered', answer: 'waited same' })
    expect(notes).toEqual([{ found: 'same' }])
    expect(server.requested).toEqual(['/', '/'])
  })

  it('a rebuild in which a request returns something else ends as diverged', async () => {
    let count = 0
    const server = await startWebServer({ '/': (response) => void response.end(String((count += 1))) })
    const fetched = `import urllib.request\nfound = urllib.request.urlopen('${urlOf(server.port)}').read().decode()`
    const { result, cellResults, notes } = await runWithLostSandbox(
      'docker',
      [`${fetched}\nawait note(found=found)\nprint(await wait())`, 'print("found" in globals())'],
      { network: { allow: [`127.0.0.1:${server.port}`] } },
    )
    expect(result).toMatchObject({ status: 'answered', answer: 'False' })
    expect(cellResults[0]).toMatchObject({ is_error: true, content: expect.stringMatching(/^\[diverged\]/) })
    expect(notes).toEqual([{ found: '1' }])
  })
})

it('a run with a network does not start in a sandbox that can not have one', async () => {
  const env = await TestEnvironment.start({
    backend: 'wasm',
    network: { allow: ['example.com'] },
    script: [answerResult],
  })
  const refused = await env.startAgent()
  await expect(refused.result()).rejects.toMatchObject({ cause: { cause: { type: 'SANDBOX_NETWORK_UNSUPPORTED' } } })
})
