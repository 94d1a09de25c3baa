import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { execFileSync } from 'node:child_process'
import Dockerode from 'dockerode'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { createDockerBackend, type DockerBackend } from '../../../src/sandbox/docker/index.js'
import type { ImageChoice } from '../../../src/common/run/sandbox-image.js'
import { describeDocker } from '../../support/docker/describe-docker.js'

const docker = new Dockerode()

/** Certificates of this machine, for networks with a proxy of their own. */
const certificates = '/etc/ssl/certs/ca-certificates.crt'

const minutes = 60_000

/** An image with Node.js and the npm of this machine: that of CI has only Node.js. */
async function buildNodeImage(minimal: string): Promise<string> {
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())))
  const name = `ptc-test-npm:${randomUUID()}`
  const dockerfile = `FROM ${minimal}\nCOPY npm /usr/local/lib/node_modules/npm\nRUN ["cp", "/usr/bin/node", "/usr/local/bin/"]\n`
  const folder = mkdtempSync(join(tmpdir(), 'ptc-npm-'))
  cpSync(npm, join(folder, 'npm'), { recursive: true })
  writeFileSync(join(folder, 'Dockerfile'), dockerfile)
  const log = await text(await docker.buildImage({ context: folder, src: ['Dockerfile', 'npm'] }, { t: name }))
  rmSync(folder, { recursive: true })
  expect(log).toContain('Successfully built')
  return name
}

describeDocker('packages of a configuration', () => {
  const images: string[] = []
  let nodeImage = ''

  function backendWith(choice: ImageChoice): DockerBackend {
    vi.stubEnv('PTC_NODE_IMAGE', nodeImage)
    if (existsSync(certificates)) vi.stubEnv('PTC_BUILD_CA', certificates)
    const backend = createDockerBackend(choice)
    images.push(backend.image)
    onTestFinished(() => backend.close())
    return backend
  }

  beforeAll(async () => {
    const backend = createDockerBackend()
    const { image } = await backend.ensureImage()
    await backend.close()
    nodeImage = await buildNodeImage(image)
    images.push(nodeImage)
  }, 30 * minutes)

  afterAll(async () => {
    vi.unstubAllEnvs()
    for (const image of new Set(images.toReversed()))
      await docker
        .getImage(image)
        .remove({ force: true })
        .catch(() => undefined)
  })

  async function run(backend: DockerBackend, language: string, source: string): Promise<string> {
    const harness = await new SessionHarness(backend, {}, undefined, language).open()
    const { output, finalResult } = await harness.runCell(source)
    await harness.close()
    return finalResult.type === 'failed' ? `${output}${finalResult.error}` : output
  }

  test('packages of Debian, Python and Node.js are there for code, and in what the image says', async () => {
    const packages = { apt: ['ripgrep'], pip: ['tabulate==0.9.0'], npm: ['is-odd@3.0.1'] }
    const backend = backendWith({ packages })
    images.push(backendWith({}).image)
    expect(await backend.ensureImage()).toMatchObject({ built: true })
    expect(await backend.ensureImage()).toMatchObject({ built: false })
    const contents = await backend.contentsOf({ language: 'python' }, AbortSignal.timeout(minutes))
    expect(contents.packages).toMatchObject({
      apt: { names: ['jq 1.6', expect.stringMatching(/^ripgrep \d/)], more: 0 },
      pip: { names: ['tabulate 0.9.0'], more: 0 },
      npm: { names: ['is-number 6.0.0', 'is-odd 3.0.1'], more: 0 },
    })
    expect(await run(backend, 'python', 'import tabulate; print(tabulate.__version__)')).toBe('0.9.0\n')
    const imported = "import odd from 'is-odd'; console.log(odd(3), require('is-odd')(4))"
    expect(await run(backend, 'javascript', imported)).toBe('true false\n')
    expect(await run(backend, 'bash', 'echo found | rg -o fou; (python3 -m pip --version || true) 2>&1')).toMatch(
      /^fou\n.*No module named pip\n$/,
    )
    const setUid = '(find / -xdev -type f -perm /6000 2>/dev/null || true) | wc -l'
    expect(await run(backend, 'bash', setUid)).toBe('0\n')
    expect((await backend.listImages()).find(({ name }) => name === backend.image)).toMatchObject({
      title: 'packages',
      packages: ['ripgrep', 'tabulate==0.9.0', 'is-odd@3.0.1'],
    })
  })

  test.each([
    ['apt', 'ptc-no-such-package', 'Unable to locate package'],
    ['pip', 'ptc-no-such-package==1.0', 'No matching distribution found'],
    ['npm', '@ptc-no-such-scope/package@1', '404'],
  ])('a package of %s that does not exist is named, with the end of the log', async (kind, name, reason) => {
    const backend = backendWith({ packages: { [kind]: [name] } })
    const failure = backend.ensureImage()
    await expect(failure).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_BUILD_FAILED',
      message: expect.stringContaining(`could not install ${name} (${kind}) into image ${backend.image}`),
    })
    await expect(failure).rejects.toThrow(reason)
  })
})

describeDocker('the image polyglot', () => {
  const backend = createDockerBackend({ image: 'polyglot' })
  beforeAll(() => backend.ensureImage(), 30 * minutes)
  afterAll(() => backend.close())

  test.each([
    ['go', 'package main\nimport "fmt"\nfunc main() { fmt.Println(6 * 7) }'],
    ['java', 'public class Cell { public static void main(String[] args) { System.out.println(6 * 7); } }'],
    ['ruby', 'puts 6 * 7'],
    ['perl', 'print 6 * 7, "\\n"'],
  ])('executes %s', async (language, source) => {
    const { languages } = await backend.contentsOf({ language }, AbortSignal.timeout(minutes))
    expect(languages).toContain(language)
    const harness = await new SessionHarness(backend, {}, undefined, `bash,${language}`).open()
    const result = await harness.executeStep({ type: 'cell', cell: 1, source, language })
    await harness.close()
    expect(result).toMatchObject({ type: 'completed', output: '42\n' })
  })

  test('says which programs there are, with their versions', async () => {
    const { programs, packages } = await backend.contentsOf({ language: 'bash' }, AbortSignal.timeout(minutes))
    for (const title of ['Go', 'Java', 'Node.js', 'Perl', 'Python', 'Ruby', 'Bash'])
      expect(programs).toContainEqual(expect.stringMatching(new RegExp(`^${title} \\d+\\.`)))
    for (const name of ['curl', 'git', 'jq', 'ripgrep'])
      expect(packages.apt.names).toContainEqual(expect.stringMatching(new RegExp(`^${name} \\d`)))
  })
})
