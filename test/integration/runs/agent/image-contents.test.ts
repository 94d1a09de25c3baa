import { expect, test } from 'vitest'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { answerResult, code, turn } from '../../../support/script.js'

/** Asks the programs of the sandbox for their versions. */
const versions = `
import platform, subprocess
def first(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.split("\\n")[0]
print(f"Python {platform.python_version()}")
print(f"Node.js {first('node', '--version').removeprefix('v')}")
print(f"Bash {first('bash', '--version').split('version ')[1].split('(')[0]}")
print(first('jq', '--version').replace('-', ' '))
`

const toolsOf = (body: unknown): string => JSON.stringify((body as { readonly tools?: unknown }).tools)

describeDocker('the prompt of a run in Docker', () => {
  test('has the programs and versions of the image, the same in each turn', async () => {
    const env = await TestEnvironment.start({ backend: 'docker', script: [turn(code(versions)), answerResult] })
    const { answer } = await env.runAgent()
    const [first = '', second] = env.api.requests.map(({ body }) => toolsOf(body))
    for (const line of answer.trim().split('\n')) expect(first).toContain(line)
    // Tests that ran before in this process may have defined further languages, which come before jq.
    expect(first).toMatch(
      /Installed: Python [\d.]+, Node\.js [\d.]+, Bash [\d.]+, Perl [\d.]+(?:, \w+ [\d.]+)*, jq [\d.]+\./,
    )
    expect(second).toBe(first)
  })

  test('a run in a language that the image lacks is refused at its start', async () => {
    const env = await TestEnvironment.start({ backend: 'docker', script: [answerResult] })
    const handle = await env.startAgent({ language: ['python', 'ruby'] })
    await expect(handle.result()).rejects.toMatchObject({
      cause: { cause: { type: 'RUN_INPUT_INVALID', message: expect.stringContaining('has no ruby') } },
    })
    expect(env.api.requests).toEqual([])
  })
})

test('the prompt of a run in the embedded sandbox has the version of its interpreter', async () => {
  const source = 'import platform; print(f"Python {platform.python_version()}")'
  const env = await TestEnvironment.start({ backend: 'wasm', script: [turn(code(source)), answerResult] })
  const { answer } = await env.runAgent()
  expect(toolsOf(env.api.requests[0]?.body)).toContain(`Installed: ${answer.trim()} (Pyodide).`)
})
