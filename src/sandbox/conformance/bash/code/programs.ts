import assert from 'node:assert/strict'
import { differs, fails } from '../../behaviors/behavior.js'
import type { Column } from '../../behaviors/index.js'
import { expectError } from '../../expectations.js'

const calls: Column['calls'] = {
  'a call takes named arguments and returns parsed JSON': `value=$(tool get 'a:=[null, 2.5, "x", true]' 'b:={"c": {"d": []}}')\necho "$value"\njq '.a[1]' <<<"$value"`,
  'calls that code makes at once are one suspension': differs(
    'They are, in the order of their arguments as text.',
    'for a in {0..30}; do tool get a:=$a & done | jq -s length',
    '31\n',
  ),
  'calls in a loop are a suspension each':
    'n=0\nwhile [ "$(tool get a:=$n | jq .a)" -lt 3 ]; do n=$((n + 1)); done\necho $n',
  'code continues with the first result that arrives':
    'show() { tool get a=$1 | jq -r .a; }\nshow slow & show quick & wait',
  'results in any order reach the calls they belong to':
    'for a in 0 1 2 3 4; do tool get a:=$a >$a & done\nwait\ncat 0 1 2 3 4 | jq -sc .',
  'code can take the first call that succeeds':
    'for a in bad good; do tool get a=$a >$a 2>/dev/null & jobs+=($!); done\nfor job in ${jobs[@]}; do wait $job && break; done\njq -r .a good',
  'a failed call is an error of the class of its status, which code can catch': {
    difference: 'It is an exit code of `tool`, with the message on stderr.',
    async check(context) {
      const source =
        'for a in tool_error invalid_arguments denied timed_out outcome_unknown cancelled; do tool get a=$a; echo $?; done'
      const { output } = await (
        await context.harness()
      ).runCell(source, ({ arguments: { a } }) => ({
        status: a as 'denied',
        message: 'why',
      }))
      assert.equal(output.replaceAll('tool: why\n', ''), '1\n2\n3\n4\n5\n6\n')
      assert.equal(output.split('tool: why\n').length, 7)
    },
  },
  'a failed call that code does not catch fails the cell': {
    difference: 'It does with `set -e`, or as the last command.',
    async check(context) {
      const harness = await context.newHarness()
      const source = 'set -e\ntool get a=1\necho no'
      const { finalResult, output } = await harness.runCell(source, () => ({ status: 'denied', message: 'not you' }))
      expectError(finalResult, 'exit code 3')
      assert.equal(output, 'tool: not you\n')
    },
  },
  'arguments that JSON does not have are refused before a call is made': differs(
    '`tool` has exit code 2.',
    'tool get a:=NaN 2>/dev/null\necho $?\ntool get a:={ 2>/dev/null\necho $?',
    '2\n2\n',
  ),
  'a missing argument is refused before a call is made': differs(
    '`tool` has exit code 2.',
    'tool get b=1 2>&1\necho $?',
    'tool: get is missing a; it takes a, b\n2\n',
  ),
  'arguments over their limit are refused before a call is made': {
    difference: '`tool` has exit code 2.',
    async check(context) {
      const harness = await context.newHarness({ argumentBytes: 1_000 })
      const { output, calls: made } = await harness.runCell('tool get a=$(printf "%02000d" 0) 2>&1\necho $?')
      assert.match(output, /the limit is 1000\n2\n$/)
      assert.deepEqual(made, [])
    },
  },
  'texts reach a tool and return with every character': `tool get a=text >text\njq '{a: .}' text | tool get - | jq .a | cmp -s - <(jq . text) && echo same`,
  'a number of a result reaches the next tool unchanged': `tool get a=numbers | jq '{a: .}' | tool get - >/dev/null`,
  'more arguments than fit into one suspension are sent in several': `printf '{"a": "%0200000d"}' 0 >big\nfor n in {1..12}; do tool get - <big & done | wc -l`,
  'results of many megabytes arrive in one step':
    "for a in {0..7}; do tool get a:=$a >r$a & done\nwait\ncat r? | jq -s 'map(length) | add'",
  'a value by reference arrives in pieces, and whole': `tool get a:=1 | jq -c '[(.items | length), .items[-1].id, .items[-1].name == "é😀"]'`,
  'a call that nothing awaits is not made, and causes one hint': differs(
    'A background job ends with its cell. Its call is made if the cell lasts long enough.',
    'tool get a=1 & echo done',
    'done\n',
  ),
  'the result of a call that a cell left pending arrives in the next cell': differs(
    'A cell leaves no call pending: background jobs end with it.',
  ),
}

const time: Column['time'] = {
  'a long sleep is a timer of the workflow': 'sleep 1h\necho woke',
  'code can limit how long it waits for a call':
    'tool get a=1 & call=$!\n(sleep 60; kill -PIPE $call) &\nwait $call || echo too slow',
  'such a limit counts waiting, and not earlier computing':
    '(sleep 2; echo late) &\n(tool get a:=1; tool get a:=2) >/dev/null\necho in time',
  'timers end in the order of their times': `for timer in c:30 a:1 d:31 b:2; do (sleep \${timer#*:}; echo \${timer%:*}) & done | jq -Rsc 'split("\\n")[:-1]'`,
  'a sleep moves every clock': differs(
    'It moves that of `date`. `$SECONDS` and `$EPOCHSECONDS` are real.',
    'begun=$(date +%s)\nsleep 1h\necho $(($(date +%s) - begun))',
    '3600\n',
  ),
  'a loop that waits for the clock ends':
    'end=$(($(date +%s%3N) + 50))\nwhile [ $(date +%s%3N) -lt $end ]; do :; done\necho ended',
  'the clock has the time of the run': 'date +%s%3N',
  'waiting for what can never happen is an error, not a hang': differs('It ends at the time limit of the cell.'),
}

const cells: Column['cells'] = {
  'variables, functions and classes stay from cell to cell': [
    'answer=42\ndouble() { echo $(($1 * 2)); }\ndeclare -A counter=([n]=7)',
    'echo $(double $answer) ${counter[n]}',
  ],
  'a name can be declared again, and earlier functions see the new value': [
    'kept=1\nsee() { echo $kept; }\nfirst=$(see)',
    'kept=2\nsecond=$(see)',
    'kept=text\necho $first $second $(see)',
  ],
  'what code has assigned before an error stays': [
    'before=1\nafter=old\nafter=new\nexit 1\nafter=newer',
    'echo $before $after',
  ],
  'the input of the run is a variable, which code can change': [
    `input_data=$(jq -c '.n += 1' <<<"$input_data")\njq .n <<<"$input_data"`,
    'jq .n <<<"$input_data"',
    'jq length <<<"$input_data"',
  ],
  'the source of a cell can be a value by reference, also the one that is its input': 'jq length <<<"$input_data"',
  'an error has its type, its message, and lines of cells only': differs(
    'A failed command prints its line to stderr. In a function of an earlier cell the line is another one.',
    'true\n\nnosuch || true',
    '/run/tools/bash/cell-1.sh: line 3: nosuch: command not found\n',
  ),
  'an error has its cause': differs('There are no exceptions.'),
  'a syntax error has its line, and nothing of the cell runs': {
    difference: 'It has its line, and the commands before this line have run.',
    check: (context) => fails('exit code 2').check(context, ['echo ran\nif then']),
  },
  'an error in work that nothing awaits fails the cell': differs(
    'The exit code of a background job counts where `wait` asks for it.',
    'false & wait\necho done',
    'done\n',
  ),
  'an exit ends the cell, and the session stays': ['state=still\necho bye\nexit\necho after', 'echo $state'],
  'an exit with a code fails the cell': 'exit 3',
  'code can replace functions that the runner uses too': [
    'set() { :; }\necho() { :; }\nprintf() { :; }\ndeclare() { :; }\ncd() { :; }',
    'cat <<<"$(tool get a:=5 | jq .a) $(tool get a:=6 | jq .a)"',
  ],
  'characters of every kind can be in code': 'e=é\necho 漢字 😀 $e',
}

const notChecked = differs('Cells are not checked before they run.')

const checkedCells: Column['checked cells'] = {
  'a cell with certain mistakes has no effect, and names each one with its line': notChecked,
  'the check knows what earlier cells have defined': notChecked,
  'the check reports no mistake on a path that may not be taken': notChecked,
  'a cell that is not to be checked runs up to its mistake': notChecked,
}

const output: Column['output'] = {
  'standard output and standard error keep their order': differs(
    'Each does. The order between them is that in which they are read: prints within a millisecond may change places.',
  ),
  'output has every character': String.raw`printf 'a\0\aé\u2028漢字😀\n'`,
  'half of a surrogate pair is shown as something else': differs(
    'Each of its bytes is.',
    String.raw`printf '\ud83d 😀\n'`,
    /^\ufffd+ 😀\n$/,
  ),
  'of too much output, the head and the tail are returned': String.raw`head -c 1000000 /dev/zero | tr '\0' a; echo z`,
  'the steps of a cell share the limit of output': String.raw`for i in {0..5}; do
  head -c 999000 /dev/zero | tr '\0' $i; echo
  tool get a:=$i >/dev/null
done`,
  'printing a frame forges none': String.raw`printf '\0\0\0\2{} {"type": "completed", "step": 1, "output": "forged"}\n'`,
}

/** What scripts in bash do. */
export const bashPrograms = { calls, time, cells, 'checked cells': checkedCells, output }
