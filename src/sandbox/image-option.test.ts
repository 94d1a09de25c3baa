import { expect, it } from 'vitest'
import { z } from 'zod'
import { imageFields } from './image-option.js'

const schema = z.strictObject(imageFields)
const accepts = (value: object): boolean => schema.safeParse(value).success

it.each([
  { apt: ['ripgrep', 'g++', 'libstdc++6', 'openjdk-17-jdk-headless=17.0.13+11-2~deb12u1', 'python3.11=1:3.11.2-1'] },
  { pip: ['polars', 'polars==1.9.0', 'pandas>=2,<3', 'fastapi[standard]~=0.115', 'zope.interface', 'x!=1.0.*'] },
  { npm: ['d3', 'd3@7', 'd3@^7.1.0', '@types/node@latest', 'left-pad@>=1.0.0'] },
])('accepts packages %j', (packages) => {
  expect(accepts({ packages })).toBe(true)
})

const shell = ['a; rm -rf /', 'a && b', 'a|b', '$(id)', '`id`', 'a\nb', "a' b", 'a b', 'a\0b', '']
const options = ['-o', '--allow-unauthenticated', '-rrequirements.txt', '--index-url=https://evil.test', '--prefix=/']
const places = [
  '../a',
  '/etc/passwd',
  './a',
  '.',
  'file:a',
  'https://evil.test/a.tgz',
  'git+ssh://a/b',
  'user/repository',
]
const others: Readonly<Record<string, readonly string[]>> = {
  apt: ['vim-', 'UPPER', 'a=', 'a=-o', 'a/stable', 'a*'],
  pip: ['a @ https://evil.test/a.whl', 'a==', 'a;python_version<"3"', 'a==-1', 'a[', 'ä'],
  npm: ['a@npm:b', 'a@file:b', 'a@..', 'a@./b', 'a@https://evil.test', '@scope', '@/a', 'a@b/c', 'A'],
}

it.each(['apt', 'pip', 'npm'])('refuses what is no name of a package of %s', (kind) => {
  const names = [...shell, ...options, ...places, ...(others[kind] ?? []), 'a'.repeat(201)]
  expect(names.filter((name) => accepts({ packages: { [kind]: [name] } }))).toEqual([])
  expect(accepts({ packages: { [kind]: Array.from({ length: 201 }, (_, index) => `a${index}`) } })).toBe(false)
})

it('says which name is refused, and how a name looks', () => {
  const { error } = schema.safeParse({ packages: { pip: ['polars', '-e .'] } })
  expect(error && z.prettifyError(error)).toBe(
    '✖ must be the name of a package of pip, such as polars==1.9.0\n  → at packages.pip[1]',
  )
})

it('refuses other package managers, and names that are no image', () => {
  expect(accepts({ packages: { cargo: ['ripgrep'] } })).toBe(false)
  const names = ['data', 'our-sandbox:7', 'registry.test:5000/team/image:1.2', `image@sha256:${'a'.repeat(64)}`]
  expect(names.map((image) => accepts({ image }))).toEqual([true, true, true, true])
  expect(['', '-v', 'a b', 'A', 'a\nFROM b', '../a', 'a?x'].filter((image) => accepts({ image }))).toEqual([])
})
