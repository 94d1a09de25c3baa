import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { connectMcp, serveMcp, testMcpHost, textOf } from '../../support/mcp/mcp-host.js'
import { noModel } from '../../support/script.js'

const leaveFiles = `
import base64, os
os.makedirs("/tmp/out", exist_ok=True)
open("/tmp/out/été.txt", "w").write("ab")
pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
open("/tmp/out/dot.gif", "wb").write(base64.b64decode(pixel))
open("/tmp/out/large.bin", "wb").write(bytes(4_000_000))
print("done")`

describeDocker('files over MCP', () => {
  it('a result of code links to its artifacts as resources, which clients of both protocols read', async () => {
    const env = await TestEnvironment.start({ backend: 'docker', tools: [], files: true, script: noModel })
    const { url } = await serveMcp(testMcpHost(env, []))
    const client = await connectMcp(url, '2026')
    const session = 'files'
    env.sessionHandle(session)
    const result = await client.callTool({ name: 'execute_code', arguments: { code: leaveFiles, session } })
    expect(textOf(result)).toMatch(/^done\n/)
    const base = `ptc-file:///${encodeURIComponent(`session:${env.taskQueue}:${session}`)}/tmp/out`
    const links = [
      { uri: `${base}/dot.gif`, name: 'dot.gif', mimeType: 'image/gif', size: 42 },
      { uri: `${base}/large.bin`, name: 'large.bin', mimeType: 'application/octet-stream', size: 4_000_000 },
      { uri: `${base}/%C3%A9t%C3%A9.txt`, name: 'été.txt', mimeType: 'text/plain', size: 2 },
    ]
    expect(result.content).toMatchObject([
      { type: 'text' },
      ...links.map((link) => ({ type: 'resource_link', ...link })),
      { type: 'image', mimeType: 'image/gif', data: expect.stringMatching(/^R0lGODlh/) },
    ])
    const other = await connectMcp(url, '2025')
    for (const each of [client, other]) expect((await each.listResources()).resources).toMatchObject(links)
    const read = async (uri: string) => (await other.readResource({ uri })).contents
    expect(await read(`${base}/%C3%A9t%C3%A9.txt`)).toMatchObject([{ mimeType: 'text/plain', text: 'ab' }])
    expect((await client.readResource({ uri: `${base}/dot.gif` })).contents).toMatchObject([{ mimeType: 'image/gif' }])
    expect(await read(`${base}/dot.gif`)).toMatchObject([{ blob: expect.stringMatching(/^R0lGODlh/) }])
    await expect(read(`${base}/large.bin`)).rejects.toThrow(/the file has 3\.8 MB, .*`ptc files get/)
    for (const uri of [`${base}/none`, 'ptc-file:///nobody/tmp/out/a', 'ptc-file:///%zz', 'file:///etc/passwd'])
      await expect(read(uri)).rejects.toThrow(/not found/i)
  })
})
