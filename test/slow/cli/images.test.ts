import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestProject } from '../../support/cli/ptc.js'

const config = `
import { defineAgent } from 'durable-ptc'
const analyst = defineAgent({ name: 'analyst', instructions: 'You analyse.', image: 'durable-ptc-no-such-image:1' })
export default { tools: [], agents: [analyst] }
`

/** The variables of this machine that determine the image. */
function buildVariables(): Record<string, string> {
  const names = ['PTC_BASE_IMAGE', 'PTC_NODE_IMAGE', 'PTC_BUILD_NETWORK']
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}

describeDocker('ptc image', () => {
  it('builds, lists and checks images, and names what it would remove', async () => {
    await using project = await TestProject.create({}, buildVariables())
    const built = await project.run('image', 'build', 'minimal', '--json')
    expect(built.code).toBe(0)
    const [{ image }] = JSON.parse(built.stdout) as [{ readonly image: string }]
    expect((await project.run('image', 'build', 'minimal')).stdout).toBe(`${image} (it was there)\n`)
    expect((await project.run('image', 'list')).stdout).toMatch(new RegExp(`\\n${image} .* current .* minimal\\n`))
    const checked = await project.run('image', 'check', 'minimal')
    expect(checked.stdout).toMatch(
      /^durable-ptc-sandbox:.*\nlanguages +python, javascript, typescript, bash, perl\nprograms +Python 3\./,
    )
    const json = await project.run('image', 'check', 'minimal', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject([
      { image, packages: { apt: { names: [expect.stringMatching(/^jq /)] } } },
    ])
    const pruned = await project.run('image', 'prune', '--dry-run')
    expect(pruned).toMatchObject({ code: 0, stderr: expect.stringMatching(/^would remove \d+ images?\n$/) })
    expect(pruned.stdout).not.toContain(image)
  })

  it('names an image that is missing, and refuses a name that is none', async () => {
    await using project = await TestProject.create({ 'ptc.config.ts': config }, buildVariables())
    // The image of the configuration is there; that of its agent is not.
    const missing = await project.run('image', 'check')
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('no image durable-ptc-no-such-image:1') })
    expect(await project.run('image', 'build', 'durable-ptc-no-such-image:1')).toMatchObject({ code: 1 })
    const invalid = await project.run('image', 'build', '--', '-v')
    expect(invalid).toMatchObject({ code: 2, stderr: expect.stringContaining('must be the name of an image') })
  })
})
