import { afterEach, describe, expect, it } from 'vitest'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { createDockerBackend } from '../../../src/sandbox/docker/backend.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { describeGvisor, gvisorRuntime, missingGvisorRuntime } from '../../support/docker/describe-gvisor.js'
import { useDockerBackend } from '../../support/sandbox/docker-sandbox.js'

interface Expected {
  readonly output?: string | RegExp
  readonly type?: 'completed' | 'failed'
  readonly error?: string | RegExp
  /** The arguments of the calls of the last cell. */
  readonly calls?: readonly object[]
  /** Number of steps of the last cell. */
  readonly steps?: number
}

const textLike = (text: string | RegExp): unknown => (typeof text === 'string' ? text : expect.stringMatching(text))

/** Cells of one session, and what is expected of the last one. */
const programs: Readonly<Record<string, readonly [cells: readonly string[], expected: Expected]>> = {
  'variables, arrays and exported variables stay': [
    [
      `a='x y' b=$'1\\n2'; c=(1 '2 3'); declare -A d=([k]=v); export E=e; declare -i n=4`,
      'n+=1; echo "$a|$b|${c[1]}|${d[k]}|$n"; bash -c \'echo $E\'',
    ],
    { output: 'x y|1\n2|2 3|v|5\ne\n' },
  ],
  'functions and aliases stay, and a function of a function': [
    [
      'shopt -s expand_aliases; alias hi="echo hi"; g() { echo "g $1"; }; f() { g "$@"; }; export -f g',
      'hi; f 1; bash -c "g 2"',
    ],
    { output: 'hi\ng 1\ng 2\n' },
  ],
  'options stay, and the options of the shell': [
    [
      'set -u -o pipefail; shopt -s extglob',
      'shopt -q extglob && [[ aab == +(a)b ]] && echo glob; set -o | grep -c "^\\(nounset\\|pipefail\\).*on"; echo $missing; echo no',
    ],
    { output: /^glob\n2\n\/run\/tools\/bash\/cell-2\.sh: line 1: missing: unbound variable/, type: 'failed' },
  ],
  'posix mode stays': [['set -o posix; x=1', 'set -o | grep -c "^posix.*on"; x=2', 'echo $x'], { output: '2\n' }],
  'an error of an assignment does not end the script': [
    ['declare -i i\ni=0#4\necho after'],
    { output: /0#4: invalid number [^\n]*\nafter\n$/ },
  ],
  'the script is a file, with a name': [
    ['f() { caller 0; }; f; echo ${BASH_SOURCE##*/} ${0##*/} ${FUNCNAME:-none}'],
    { output: '1 main /run/tools/bash/cell-1.sh\ncell-1.sh cell-1.sh none\n' },
  ],
  'the working directory and umask stay': [
    ['mkdir -p d/e; cd d/e; umask 077', 'pwd; cd - >/dev/null; pwd; umask'],
    { output: '/tmp/d/e\n/tmp\n0077\n' },
  ],
  'no working directory before the first one': [['true', 'cd -; echo $?'], { output: /OLDPWD not set\n1\n$/ }],
  'set -e ends a cell at the first failure, and is on in the next one': [
    ['set -e; x=1; false; x=2', 'echo $x $-; false; echo no'],
    { output: /^1 e\S*\n$/, type: 'failed', error: 'exit code 1' },
  ],
  'exit ends a cell, and what it has set stays': [['x=1; f() { exit 3; }; f; x=2', 'echo $x'], { output: '1\n' }],
  'the exit code of a cell': [['exit 42'], { type: 'failed', error: 'exit code 42' }],
  'the exit codes of a pipeline that has failed': [
    ['false | true'],
    { type: 'completed', output: '[exit codes of the last pipeline: 1 0]' },
  ],
  'a process that a signal has ended': [
    ['kill -TERM $$'],
    { type: 'failed', error: 'exit code 143: ended by SIGTERM' },
  ],
  'an EXIT trap runs at the end of its cell, with the exit code': [
    ["trap 'echo bye $? $x' EXIT; x=1; exit 5"],
    { output: 'bye 5 1\n', type: 'failed', error: 'exit code 5' },
  ],
  'an EXIT trap ends with its cell, and other traps stay': [
    ["trap 'echo bye' EXIT; trap 'echo usr' USR1; trap -p", 'kill -USR1 $$; trap -p EXIT; echo end'],
    { output: 'usr\nend\n' },
  ],
  'the traps ERR and DEBUG stay, and can be removed': [
    [
      "trap 'echo err' ERR; trap 'n=$((n + 1))' DEBUG",
      'false; ((n > 0)) && echo debug; trap - ERR DEBUG; n=0; false; echo $n',
      'false; echo $n',
    ],
    { output: '0\n' },
  ],
  'trap -p shows an EXIT trap as bash does': [
    [`trap "echo 'a b'" EXIT; trap -p EXIT`],
    { output: "trap -- 'echo '\\''a b'\\''' EXIT\na b\n" },
  ],
  'an EXIT trap of a subshell': [["(trap 'echo sub' EXIT); echo main"], { output: 'sub\nmain\n' }],
  'an ERR trap and LINENO': [
    ["trap 'echo failed at $LINENO' ERR\ntrue\nfalse\necho end"],
    { output: 'failed at 3\nend\n' },
  ],
  'an error names the line of the cell': [
    ['true\nnosuch\n'],
    { output: '/run/tools/bash/cell-1.sh: line 2: nosuch: command not found\n', error: /exit code 127/ },
  ],
  'a syntax error': [
    ['echo a\nif then\n'],
    { output: /line 2: syntax error near unexpected token `then'/, type: 'failed' },
  ],
  'a quote that is not closed fails at once': [["echo 'a"], { output: /unexpected EOF/, type: 'failed' }],
  'a here-document': [['cat <<END\na $((1 + 1))\nEND'], { output: 'a 2\n' }],
  'stdin is empty': [['cat; read -r x || echo none'], { output: 'none\n' }],
  'a background job ends with its cell': [
    ['/bin/sleep 1000 & echo $! >pid', 'kill -0 $(cat pid) 2>/dev/null || echo gone'],
    { output: 'gone\n' },
  ],
  'a job that has left its session ends with its cell': [
    [
      "setsid bash -c 'echo $$ >pid; while :; do echo x >&3; /bin/sleep 0.05; done' 3>&1 & until [ -s pid ]; do /bin/sleep 0.01; done",
      'kill -0 $(cat pid) 2>/dev/null || echo gone',
    ],
    { output: 'gone\n' },
  ],
  'output of a megabyte loses its middle': [['seq 1 200000'], { output: /^1\n2\n[^]*characters cut[^]*\n200000\n$/ }],
  'output that is not UTF-8': [["printf 'a\\xff\\xfeb'"], { output: 'a\ufffd\ufffdb' }],
  'a cell of a megabyte': [[`x=${'y'.repeat(1_000_000)}; echo \${#x}`], { output: '1000000\n' }],
  'a value of a megabyte stays': [
    ['x=$(head -c 1000000 /dev/zero | tr "\\0" é)', 'echo ${#x}'],
    { output: '1000000\n' },
  ],
  'calls one after another': [
    ['r=$(tool get a=1 b:=2); tool get a="$r"; echo $?'],
    {
      output: '{"a": "{\\"a\\": \\"1\\", \\"b\\": 2}"}\n0\n',
      calls: [{ a: '1', b: 2 }, { a: '{"a": "1", "b": 2}' }],
      steps: 3,
    },
  ],
  'calls at once are one step, in the order of their arguments': [
    ['for i in 3 1 2; do tool get a=$i & done; wait; echo end'],
    { output: /end\n$/, calls: [{ a: '1' }, { a: '2' }, { a: '3' }], steps: 2 },
  ],
  'calls in pipelines, substitutions and xargs': [
    ['seq 3 | xargs -P 3 -I{} tool get a={} | sort | jq -r .a; cat <(tool get a=x)'],
    { output: '1\n2\n3\n{"a": "x"}\n', calls: [{ a: '1' }, { a: '2' }, { a: '3' }, { a: 'x' }], steps: 3 },
  ],
  'a call from Python that bash has started': [
    ['python3 -c \'import subprocess; print(subprocess.run(["tool", "get", "a=p"], capture_output=True).stdout)\''],
    { output: `b'{"a": "p"}\\n'\n`, calls: [{ a: 'p' }], steps: 2 },
  ],
  'arguments as JSON on stdin': [
    ['tool get - <<<\'{"a": {"b": [1, 2.0, null, "é"]}}\' | jq -c .a.b[3]'],
    { output: '"é"\n' },
  ],
  'nothing in an argument is executed': [
    ["tool get a='$(touch pwned) `touch pwned`; touch pwned' | jq -r .a; ls"],
    { output: '$(touch pwned) `touch pwned`; touch pwned\n' },
  ],
  'wrong calls have exit code 2, and make no call': [
    ['for c in "nope" "get" "get c" "get a=1 a=2" "get a:={"; do tool $c 2>/dev/null; echo $?; done; tool gett'],
    {
      output: /^2\n2\n2\n2\n2\ntool: there is no tool gett; did you mean get\?\n/,
      calls: [],
      type: 'failed',
      error: 'exit code 2',
    },
  ],
  'a sleep is a timer of the host': [
    ['before=$(date +%s); sleep 1h; echo $(($(date +%s) - before))'],
    { output: '3600\n', steps: 2 },
  ],
  'sleeps at once are one after another in time': [
    ['(sleep 2; echo b) & (sleep 1; echo a) & wait'],
    { output: 'a\nb\n', steps: 3 },
  ],
  'a call beside a sleep': [['sleep 5 & tool get a=1; wait; echo end'], { output: '{"a": "1"}\nend\n' }],
  'help comes from the tools': [
    ['tool --help; tool get --help'],
    { output: /Usage: tool NAME[^]*get +Gets a thing\.[^]*Usage: tool get a=\.\.\. \[b=\.\.\.\]/ },
  ],
  'random numbers come from the seed': [
    ['echo $RANDOM $RANDOM >r; cat r', 'echo $RANDOM $RANDOM | cmp -s - r || echo differ'],
    { output: 'differ\n' },
  ],
}

describeDocker('cells in bash', () => {
  const backend = useDockerBackend()
  const open: SessionHarness[] = []
  const session = async (limits = {}) => {
    const harness = await new SessionHarness(backend, limits, undefined, 'bash').open()
    open.push(harness)
    return harness
  }
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()))
  })

  it.each(Object.entries(programs))('%s', async (_, [cells, expected]) => {
    const harness = await session()
    for (const before of cells.slice(0, -1)) await harness.runCell(before)
    const { output, finalResult, calls, stepResults } = await harness.runCell(cells.at(-1) ?? '')
    const { type = expected.error === undefined ? 'completed' : 'failed' } = expected
    expect(finalResult.type).toBe(type)
    if (expected.output !== undefined) expect(output).toEqual(textLike(expected.output))
    if (expected.error !== undefined) expect(finalResult).toMatchObject({ error: textLike(expected.error) })
    if (expected.calls !== undefined) expect(calls.map(({ arguments: input }) => input)).toEqual(expected.calls)
    if (expected.steps !== undefined) expect(stepResults).toHaveLength(expected.steps)
  })

  describe('a failed call in bash', () => {
    it.each([
      ['tool_error', 1],
      ['denied', 3],
      ['timed_out', 4],
      ['outcome_unknown', 5],
    ] as const)('%s has exit code %i, and its message on stderr', async (status, exitCode) => {
      const harness = await session()
      const { output } = await harness.runCell('tool get a=1 2>err; echo $?; cat err', () => ({
        status,
        message: 'why',
      }))
      expect(output).toBe(`${exitCode}\ntool: why\n`)
    })
  })

  it('a cell that runs too long is stopped, its traps run, and its state of before stays', async () => {
    const harness = await session({ cellSeconds: 1 })
    await harness.runCell('x=1')
    const { finalResult, output } = await harness.runCell("x=2; trap 'echo trap' EXIT; while :; do :; done")
    expect(finalResult).toMatchObject({ type: 'failed', kind: 'timed_out' })
    expect(output).toBe('trap\n')
    expect((await harness.runCell('echo $x')).output).toMatch(/^[12]\n$/)
  })

  it('a cell that ignores signals is killed', async () => {
    const harness = await session({ cellSeconds: 1 })
    const { finalResult } = await harness.runCell("trap '' INT TERM; while :; do /bin/sleep 0.1; done")
    expect(finalResult).toMatchObject({ type: 'failed', kind: 'timed_out' })
    expect((await harness.runCell('echo alive')).output).toBe('alive\n')
  })

  it('more calls than allowed end the cell', async () => {
    const harness = await session({ callsPerCell: 3 })
    const { finalResult, calls } = await harness.runCell('while :; do tool get a=1; done')
    expect(finalResult).toMatchObject({ type: 'failed', kind: 'limit_exceeded' })
    expect(calls).toHaveLength(3)
  })
})

describeGvisor('cells in bash under gVisor', await missingGvisorRuntime(), () => {
  it('calls one after another and at once suspend the cell, without a look at its processes', async () => {
    const backend = createDockerBackend({ runtime: gvisorRuntime })
    await backend.ensureImage()
    const harness = await new SessionHarness(backend, {}, undefined, 'bash').open()
    const { output, calls, stepResults } = await harness.runCell(
      'x=$(tool get a=0); for i in 3 1 2; do tool get a=$i & done; wait; sleep 5; echo end',
    )
    expect(output).toMatch(/end\n$/)
    expect(calls.map(({ arguments: input }) => input['a'])).toEqual(['0', '1', '2', '3'])
    expect(stepResults).toHaveLength(4)
    expect((await harness.runCell('exit 3')).finalResult).toMatchObject({ type: 'failed', error: 'exit code 3' })
    await harness.close()
    await backend.close()
  })
})
