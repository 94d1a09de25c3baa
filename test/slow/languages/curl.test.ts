import { afterAll, beforeAll, expect, it } from 'vitest'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { createDockerBackend, type DockerBackend } from '../../../src/sandbox/docker/backend.js'
import { ensureTestImage } from '../../comparison/test-image.js'
import { describeDocker } from '../../support/docker/describe-docker.js'

const install = `
set -e
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends curl
rm -rf /var/lib/apt/lists/*`

const curl = 'curl -sS --unix-socket "$PTC_TOOLS"'

/** What `$curl` of a cell prints, and the arguments of its calls. */
const requests: Readonly<Record<string, readonly [cell: string, output: string, calls: readonly object[]]>> = {
  'asks for the health': ['$curl http://tools/health', '{"status": "ok"}\n', []],
  'lists the tools': ["$curl http://tools/tools/list | jq -r '.tools[].name'", 'get\nrent\n', []],
  'asks for a schema, and sees how long it may keep it': [
    "$curl -D head 'http://tools/tools/schema?name=get' | jq -r .name; grep -ci '^cache-control: max-age=300' head",
    'get\n1\n',
    [],
  ],
  'calls a tool': [
    `$curl --json '{"name": "get", "arguments": {"a": "é"}}' http://tools/tools/call`,
    '{"a": "é"}\n',
    [{ a: 'é' }],
  ],
  'calls a tool with arguments from a pipe': [
    `jq -n '{a: [1, 2]}' | $curl --json @- 'http://tools/tools/call?name=get'`,
    '{"a": [1, 2]}\n',
    [{ a: [1, 2] }],
  ],
  'sends chunks': [
    `echo '{"name": "get", "arguments": {"a": 1}}' | $curl -H 'Transfer-Encoding: chunked' -d @- http://tools/tools/call`,
    '{"a": 1}\n',
    [{ a: 1 }],
  ],
  'waits to be told that it may continue': [
    `$curl -H 'Expect: 100-continue' --json '{"name": "get", "arguments": {"a": 1}}' http://tools/tools/call`,
    '{"a": 1}\n',
    [{ a: 1 }],
  ],
  'sends two requests by one connection': [
    `$curl -w '%{num_connects}\\n' http://tools/health http://tools/health`,
    '{"status": "ok"}\n1\n{"status": "ok"}\n0\n',
    [],
  ],
  'calls at once': [
    `$curl --no-progress-meter -Z --json '{"name": "get", "arguments": {"a": 1}}' http://tools/tools/call http://tools/tools/call`,
    '{"a": 1}\n{"a": 1}\n',
    [{ a: 1 }, { a: 1 }],
  ],
  'fails with the status of a wrong call': [
    `$curl -f --json '{"name": "nope"}' http://tools/tools/call 2>/dev/null; echo $?; $curl -o /dev/null -w '%{http_code}\\n' http://tools/nope`,
    '22\n404\n',
    [],
  ],
  'asks for the head only': [`$curl -o /dev/null -w '%{http_code}\\n' -I http://tools/health`, '405\n', []],
  'speaks HTTP/1.0': [`$curl -0 http://tools/health`, '{"status": "ok"}\n', []],
  'offers HTTP/2': [`$curl --http2 http://tools/health`, '{"status": "ok"}\n', []],
}

describeDocker('curl as a client of the socket for tools', () => {
  let backend: DockerBackend
  let session: SessionHarness
  beforeAll(async () => {
    backend = createDockerBackend({ image: await ensureTestImage('durable-ptc-curl-tests', install) })
    session = await new SessionHarness(backend, {}, undefined, 'bash').open()
  })
  afterAll(async () => {
    await session.close()
    await backend.close()
  })

  it.each(Object.entries(requests))('%s', async (_, [cell, expected, arguments_]) => {
    const { output, calls } = await session.runCell(cell.replaceAll('$curl', curl))
    expect(output).toBe(expected)
    expect(calls.map(({ arguments: input }) => input)).toEqual(arguments_)
  })
})
