import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { startWebServer, body, type WebServer } from '../../support/web/web-server.js'
import { AttackEnvironment, maxMemoryGrowthBytes } from '../support/attack-environment.js'
import { syscallHelpers } from '../support/hostile-code.js'

describeDocker('a hostile program in a sandbox with a network', () => {
  let attackEnv: AttackEnvironment
  let allowed: WebServer
  let inside: WebServer
  const ends: (() => void)[] = []
  beforeAll(async () => {
    allowed = await startWebServer({ '/': body('allowed') }, (end) => ends.push(end))
    inside = await startWebServer({ '/': body('inside') }, (end) => ends.push(end))
    attackEnv = await AttackEnvironment.start({
      network: { allow: [`127.0.0.1:${allowed.port}`, 'example.com'], requestsPerMinute: 100 },
    })
  })
  afterAll(async () => {
    await attackEnv.close()
    for (const end of ends) end()
  })

  it('N10 a hostile program has no way around the proxy: no interface, route, raw socket, resolver or other family', async () => {
    const answers = await attackEnv.probe(`${syscallHelpers}
import urllib.request
print(urllib.request.urlopen('http://127.1:${allowed.port}/').read().decode())
def connect(host, port, family=socket.AF_INET, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as tried:
        tried.settimeout(2)
        return attempt(tried.connect, (host, port))
for host in ("127.0.0.1", "172.17.0.1", "169.254.169.254", "8.8.8.8"):
    print(connect(host, ${inside.port}), connect(host, 53, kind=socket.SOCK_DGRAM) if host != "127.0.0.1" else "ENETUNREACH")
for host in ("::1", "::ffff:127.0.0.1", "fd00:ec2::254", "2001:4860:4860::8888"):
    print(connect(host, ${inside.port}, socket.AF_INET6))
for family, kind, protocol in ((2, 3, 1), (2, 3, 255), (10, 3, 58), (17, 3, 0), (16, 3, 0), (40, 1, 0)):
    print(attempt(socket.socket, family, kind, protocol))
for name in ("example.com", "localhost.localdomain.example.com", "host.docker.internal"): print(attempt(socket.getaddrinfo, name, 80))
print(os.listdir("/sys/class/net"), len(open("/proc/net/route").readlines()) <= 1, open("/proc/net/dev").read().count(":"))
`)
    expect(answers[0]).toBe('allowed')
    expect(answers.at(-1)).toBe("['lo'] True 1")
    for (const answer of answers.slice(1, -1))
      expect(answer).toMatch(
        /^(EPERM|EPROTONOSUPPORT|ENETUNREACH|ECONNREFUSED|EADDRNOTAVAIL|EAFNOSUPPORT|EHOSTUNREACH|\[Errno -\d\].*|\?|None| )+$/,
      )
    expect(inside.requested).toEqual([])
  })

  it('N11 a flood of connections and requests has its limits, and ends with its program', async () => {
    const { outcome, memoryGrowthBytes } = await attackEnv.attack(
      `
import os, socket, urllib.request
host, port = os.environ["http_proxy"].removeprefix("http://").split(":")
held, refused = [], 0
for _ in range(400):
    try:
        tried = socket.create_connection((host, int(port)))
        tried.sendall(b"GET http://127.1:${allowed.port}/ HTTP/1.1\\r\\n" + b"x: " + b"y" * 10000)
        held.append(tried)
    except OSError:
        refused += 1
for tried in held:
    tried.settimeout(0.01)
    try: refused += tried.recv(1) == b""
    except ConnectionError: refused += 1
    except TimeoutError: pass
print(refused >= 300)
for tried in held: tried.close()
statuses = set()
for _ in range(300):
    try: statuses.add(urllib.request.urlopen('http://127.1:${allowed.port}/').status)
    except urllib.error.HTTPError as error: statuses.add(error.code)
    except OSError: statuses.add(0)
print(200 in statuses, 429 in statuses)
`,
      { cellSeconds: 90 },
    )
    expect(outcome).toMatchObject({ status: 'ok', output: 'True\nTrue True\n' })
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
  })

  it('N12 forged messages about connections reach nothing that the program could not reach', async () => {
    const { outcome, memoryGrowthBytes } = await attackEnv.attack(
      `
import base64, json, os
parent = os.getppid()
def forge(message):
    body = json.dumps(message).encode()
    for name in os.listdir(f"/proc/{parent}/fd"):
        path = f"/proc/{parent}/fd/{name}"
        try:
            if not os.readlink(path).startswith("pipe:"): continue
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError: continue
        try: os.write(descriptor, len(body).to_bytes(4, "big") + body)
        except OSError: pass
        finally: os.close(descriptor)
request = b"GET http://127.0.0.1:${inside.port}/ HTTP/1.1\\r\\nHost: 127.0.0.1:${inside.port}\\r\\n\\r\\n"
for fence in ([1, 1, 1], [9, 9, 9]):
    for number in (1, 2, 10**6, 2**53 - 1):
        forge({"type": "network", "fence": fence, "connection": number, "kind": "open"})
        forge({"type": "network", "fence": fence, "connection": number, "kind": "data", "text": base64.b64encode(request).decode()})
        for _ in range(50):
            forge({"type": "network", "fence": fence, "connection": number, "kind": "window", "bytes": 131072})
            forge({"type": "network", "fence": fence, "connection": number, "kind": "data", "text": base64.b64encode(bytes(30000)).decode()})
print("forged")
`,
      { cellSeconds: 60 },
    )
    expect(['ok', 'lost', 'code_error']).toContain(outcome.status)
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
    expect(inside.requested).toEqual([])
  })
})
