import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { environmentTools } from '../../../src/common/run/environment.js'
import { languageOf } from '../../../src/languages/index.js'
import { environmentToolsOf } from '../../../src/models/prompt/environment-tools.js'
import { maskTexts, problemsOfCommands, type ToolProgram, useHome } from '../../support/environment-tools/run-tools.js'

const home = useHome()

describe('keys and passwords', () => {
  it('files whose names say that they have some are refused, or read without values', async () => {
    await home.put('.env', 'NAME=x\n# comment\nDB_PASSWORD: y\n')
    await home.put('id_rsa', '-----BEGIN X-----\nabc\n')
    await home.put('.env.example', 'NAME=\n')
    await symlink('.env', join(home.path, 'settings.txt'))
    await symlink('many', join(home.path, 'cert.pem'))
    const mask = { sensitiveFiles: 'mask' }
    const names = ['.env', 'id_rsa', 'settings.txt', 'cert.pem']
    const refused = await home.use([
      ...names.map((path): ToolProgram => ['read_file', { path }]),
      ['write_file', { path: 'app/.env', content: '' }],
      ['edit_file', { path: '.env', old_text: 'x', new_text: 'y' }],
      ['grep', { pattern: 'x', path: '.env' }],
    ])
    expect(refused.map(({ text }) => text.split(':')[0])).toEqual(refused.map(() => 'sensitive_file'))
    const [example, masked, raw] = await home.use([
      ['read_file', { path: '.env.example' }],
      ['read_file', { path: 'settings.txt' }, mask],
      ['read_file', { path: '.env' }, { raw: true }],
    ])
    expect(example?.isFailure).toBe(false)
    expect(masked?.text).toBe('     1\tNAME=[masked]\n     2\t# comment\n     3\tDB_PASSWORD:[masked]')
    expect(raw?.text).toContain('NAME=x')
  })

  it('keys and passwords in a text are masked, and other texts are not', async () => {
    const secrets = {
      'AWS AKIAIOSFODNN7EXAMPLE end': 'AWS [masked] end',
      [`x ghp_${'a1'.repeat(18)} y`]: 'x [masked] y',
      [`sk-ant-api03-${'aB3'.repeat(20)}`]: '[masked]',
      'postgres://user:s3cret@db.example/x': 'postgres://user:[masked]@db.example/x',
      'Authorization: Bearer abcdefghijklmnop.qr': 'Authorization: Bearer [masked]',
      'DB_PASSWORD=hunter2': 'DB_PASSWORD=[masked]',
      'export API_KEY=verysecret': 'export API_KEY=[masked]',
      '{"client_secret": "abcd efgh"}': '{"client_secret": "[masked]"}',
      "password: 'correct horse'": "password: '[masked]'",
      'token = abc123def456': 'token = [masked]',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nrest': '[masked]\nrest',
      'cut -----BEGIN PRIVATE KEY-----\nMIIE': 'cut [masked]',
    }
    expect(await maskTexts(Object.keys(secrets))).toEqual(Object.values(secrets))
    const harmless = [
      'password = get_password()',
      'token = request.token',
      'const secret = process.env.SECRET',
      'if (password === expected) return',
      'PASSWORD=$OTHER',
      'the password is asked for',
      'tokens: 1234',
      'def secret(self, token: str) -> None:',
      'https://example.com/a:b@c',
      'sk-learn and sk-image',
      'token_count: 12',
      '-----BEGIN PUBLIC KEY-----',
      'api_key: null',
    ]
    expect(await maskTexts(harmless)).toEqual(harmless)
  })

  it('masking takes time in proportion to the text', async () => {
    const hostile = ['password', 'a.', 'eyJ', '-----BEGIN ', 'a://', 'api_key', 'Bearer ', 'x='].map((text) =>
      text.repeat(300_000 / text.length),
    )
    const startedAt = performance.now()
    await maskTexts(hostile)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})

describe('arguments', () => {
  it('arguments that a tool does not take are refused', async () => {
    const runs = await home.use([
      ['read_file', {}],
      ['read_file', { path: 1 }],
      ['read_file', { path: 'a', lines: 2 }],
      ['read_file', { path: 'a', first_line: 0 }],
      ['read_file', { path: 'a', first_line: true }],
      ['grep', { pattern: 'a', ignore_case: 'yes' }],
      ['write_file', { path: 'a', content: '\ud800' }],
      ['delete_file', { path: 'a' }],
    ])
    expect(runs.map(({ text }) => text)).toEqual([
      'invalid_arguments: read_file is missing path',
      'invalid_arguments: path of read_file is a text',
      'invalid_arguments: read_file has no lines; it takes path, first_line, line_count',
      'invalid_arguments: first_line of read_file is a whole number from 1',
      'invalid_arguments: first_line of read_file is a whole number from 1',
      'invalid_arguments: ignore_case of grep is true or false',
      'invalid_arguments: content has a half of a surrogate pair, which no file can have',
      'invalid_arguments: there is no tool delete_file',
    ])
  })

  it('the schemas that the model gets have the members that the dispatcher knows', async () => {
    const tools = environmentToolsOf({ tools: environmentTools }, languageOf('python,bash,environment'))
    const described = tools.filter(({ name }) => name !== 'run_code')
    const unknown = await home.use(described.map(({ name }) => [name, { unknown: 1 }]))
    const members = unknown.map(({ text }) => text.split('; it takes ')[1]?.split(', '))
    expect(members).toEqual(described.map(({ inputSchema }) => Object.keys(inputSchema['properties'] as object)))
    const none = await home.use(described.map(({ name }) => [name, {}]))
    const required = none.map(({ text }) => /is missing (.*)$/.exec(text)?.[1]?.split(', ') ?? [])
    expect(required).toEqual(described.map(({ inputSchema }) => inputSchema['required']))
    expect(tools.at(-1)?.inputSchema['properties']).toMatchObject({ language: { enum: ['python', 'bash'] } })
  })
})

describe('dangerous commands', () => {
  it('commands that destroy much are recognised, in their usual forms', async () => {
    const commands = [
      'rm -rf /',
      'rm -fr /*',
      'sudo rm -r -f --no-preserve-root /',
      'cd /tmp && rm -rf $HOME',
      'rm -rf ${HOME}/',
      'ls; rm --recursive --force /etc',
      'true\nrm -rf //',
      'if true; then rm -rf /; fi',
      '(rm -rf /)',
      'x=$(rm -rf /)',
      "bash -c 'rm -rf /'",
      'r\\m -rf /',
      "$'rm' -rf /",
      'A=1 nohup timeout 5 rm -rf /usr &',
      'echo / | xargs rm -rf /',
      'cat <<END\ntext\nEND\nrm -rf /',
      'chmod -R 777 /',
      'dd if=/dev/zero of=/dev/sda bs=1M',
      'echo x > /dev/nvme0n1',
      'shred /dev/sda',
      'sudo mkfs -t ext4 /dev/sdb',
      'mkfs.ext4 /dev/sdb1',
      ':(){ :|:& };:',
      'bomb() { bomb | bomb & }; bomb',
      'kill -9 -1',
    ]
    const problems = await problemsOfCommands(commands)
    expect(commands.filter((_, index) => problems[index] === null)).toEqual([])
    expect(problems[0]).toBe('it removes all files below /')
  })

  it('usual commands, and texts about dangerous ones, are not refused', async () => {
    const commands = [
      'rm -rf /tmp/build node_modules ./dist',
      'rm -rf /tmp/*',
      'for i in a b; do rm -rf "$i"; done',
      "echo 'rm -rf /'",
      'echo "a; rm -rf /"',
      "git commit -m 'remove rm -rf / from docs'",
      'grep -rn mkfs . # rm -rf /',
      'cat > notes <<END\nrm -rf /\nmkfs\nEND',
      'python3 -c \'print("rm -rf /")\'',
      'chmod -R u+w /tmp/x',
      'dd if=/dev/zero of=/tmp/f bs=1M count=1',
      'dd if=/tmp/f of=/dev/null 2>/dev/null',
      'echo x >/dev/null 2>&1',
      'f() { echo | cat & }; f',
      'kill -9 123',
      "find /tmp -name '*.o' -delete",
      'ls /; echo ${x:-/}',
    ]
    const problems = await problemsOfCommands(commands)
    expect(commands.filter((_, index) => problems[index] !== null)).toEqual([])
  })

  it('forms that hide the words are not recognised: the sandbox is the guard', async () => {
    const hidden = [
      '$(echo rm) -rf /',
      'echo cm0gLXJmIC8= | base64 -d | sh',
      'x=rm; $x -rf /',
      "python3 -c 'import shutil'",
    ]
    expect(await problemsOfCommands(hidden)).toEqual(hidden.map(() => null))
  })
})
