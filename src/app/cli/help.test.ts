import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { main } from '../main.ts'
import { commands } from './commands.ts'
import { findNearest } from './help.ts'

/** Runs a command line as the process would, and keeps what it says. */
async function run(...argv: string[]) {
  const said = { out: '', note: '' }
  const terminal = {
    out: (text: string) => (said.out += `${text}\n`),
    note: (text: string) => (said.note += `${text}\n`),
  }
  return { code: await main(argv, {}, terminal), ...said }
}

describe('help', () => {
  test.each([[], ['help'], ['--help'], ['-h']])('%j lists every command', async (...argv) => {
    const { code, out } = await run(...argv.flat())
    expect(code).toBe(0)
    for (const { name, summary } of commands) expect(out).toMatch(new RegExp(`^ {2}${name} +${literal(summary)}$`, 'm'))
  })

  test('the issue names these commands, and they are there', () => {
    const names = commands.map(({ name }) => name)
    const wanted = ['start', 'api', 'worker', 'migrate', 'roles', 'seed', 'token', 'openapi', 'doctor']
    const verbs = ['create', 'list', 'suspend', 'resume'].map((verb) => `tenant ${verb}`)
    expect(names).toEqual(expect.arrayContaining([...wanted, ...verbs, 'keys list', 'keys rotate']))
  })

  test.each(commands.map((entry) => [entry.name, entry] as const))(
    '%s explains itself and each of its options',
    async (name, entry) => {
      const options = Object.keys((await entry.load()).options ?? {})
      const asked = await run(...name.split(' '), '--help')
      expect(asked.code).toBe(0)
      expect(asked.out).toContain(`Usage: npx probity ${name}`)
      for (const option of options) expect(asked.out).toMatch(new RegExp(`^ {2}--${option}\\b`, 'm'))
      expect(await run('help', ...name.split(' '))).toEqual(asked)
    },
  )

  test('a family of commands is explained together', async () => {
    const { code, out } = await run('tenant', '--help')
    expect(code).toBe(0)
    for (const verb of ['create', 'list', 'suspend', 'resume']) expect(out).toContain(`probity tenant ${verb}`)
  })

  test('every setting that the configuration reads is in the list of settings', async () => {
    const { out } = await run('help', 'environment')
    const source = fs.readFileSync(path.join(import.meta.dirname, '../config.ts'), 'utf8')
    const names = new Set(source.match(/'(?:[A-Z]+_)*[A-Z]{3,}'/g)?.map((name) => name.slice(1, -1)))
    expect(names.size).toBeGreaterThan(20)
    for (const name of names) expect(out).toMatch(new RegExp(`^ {2}${name} `, 'm'))
  })

  test('--version is the version alone', async () => {
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('a wrong command line is reported in one sentence, with exit code 2', () => {
  test.each([
    [['strat'], /^"strat" is not a command; did you mean "start"\?\n/],
    [['tennant', 'list'], /did you mean "tenant"\?/],
    [['frobnicate'], /^"frobnicate" is not a command\.\n/],
    [['tenant'], /^"tenant" is not a command; there are "tenant create", "tenant list"/],
    [['tenant', 'erase'], /^"tenant erase" is not a command; there are "tenant create"/],
    [['help', 'strat'], /did you mean "start"\?/],
    [['start', '--prot', '1'], /^Unknown option '--prot'\.\n/],
    [['start', 'now'], /^"now" is not expected here\.\n/],
    [['tenant', 'suspend'], /^SLUG is missing\.\n/],
    [['tenant', 'suspend', 'a', 'b'], /^"b" is not expected here\.\n/],
    [['tenant', 'create', '--name', 'N'], /^--slug is missing\.\n/],
    [['tenant', 'create', '--slug', 'S S', '--name', 'N'], /^--slug must be 1 to 100 lower-case/],
    [['tenant', 'create', '--slug', 's', '--name', 'a\nb'], /^--name must be 1 to 200 characters/],
    [['tenant', 'create', '--slug', 's', '--name', 'n', '--id', '1'], /^--id must be a UUID/],
    [
      ['tenant', 'create', '--slug', 's', '--name', 'n', '--id', '00000000-0000-0000-0000-000000000000'],
      /^--id must be/,
    ],
    [['tenant', 'create', '--slug', 'a', '--slug', 'b', '--name', 'N'], /^--slug may be given once only\.\n/],
    [['tenant', 'delete', 'acme'], /^--confirm is missing: the name of the tenant\.\n/],
    [['token', '--role', 'viewer'], /^--tenant is missing\.\n/],
    [['token', '--tenant', 'demo'], /^--role is missing/],
    [['token', '--tenant', '', '--role', 'viewer'], /^--tenant is empty\.\n/],
    [
      ['token', '--tenant', 'demo', '--role', 'viewer', '--hours', '25'],
      /^--hours must be a whole number from 1 to 24\.\n/,
    ],
    [['token', '--tenant', 'demo', '--role', 'viewer', '--hours', '1.5'], /^--hours must be a whole number/],
    [['token', '--tenant', 'demo', '--role'], /^Option '--role <value>' argument missing\.\n/],
    [['roles'], /^Say "roles --print"/],
    [['roles', '--print', '--database', 'a\nb'], /^--database must be/],
    [['openapi', '--out', ''], /^--out is empty\.\n/],
  ])('%j', async (argv, sentence) => {
    const { code, out, note } = await run(...argv)
    expect(note).toMatch(sentence)
    expect(note).toMatch(/\nRun "npx probity help.*" to see how it is used\.\n$/)
    expect(out).toBe('')
    expect(code).toBe(2)
  })
})

describe('a refusal is one sentence, with exit code 1', () => {
  test('an unknown role names those there are', async () => {
    const { code, note } = await run('token', '--tenant', 'demo', '--role', 'boss')
    expect(note).toMatch(/^"boss" is not a role; the roles are viewer, analyst, .*service\.\n$/)
    expect(code).toBe(1)
  })

  test('a bad configuration is reported before anything is done, without a stack trace', async () => {
    const said: string[] = []
    const terminal = { out: (text: string) => void said.push(text), note: (text: string) => void said.push(text) }
    expect(await main(['start'], { PORT: 'x' }, terminal)).toBe(1)
    expect(said.join('\n')).toBe('The configuration is not usable:\n  - PORT must be a whole number from 0 to 65535.')
  })

  test('a file that cannot be written', async () => {
    const { code, note } = await run('openapi', '--out', '/nowhere/openapi.json')
    expect(note).toMatch(/^\/nowhere\/openapi\.json cannot be written: ENOENT[^\n]*\n$/)
    expect(code).toBe(1)
  })
})

describe('commands that need no database', () => {
  test('openapi prints the document', async () => {
    const { code, out } = await run('openapi')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ openapi: expect.stringMatching(/^3\.1/), paths: expect.any(Object) })
  })

  test('roles prints SQL for the database named', async () => {
    const { code, out } = await run('roles', '--print', '--database', 'my "db"')
    expect(code).toBe(0)
    expect(out).toContain('grant connect on database "my ""db""" to migrator, app, worker, steward;')
  })
})

test('a suggestion is made for a slip, not for another word', () => {
  const names = ['start', 'seed', 'token', 'doctor']
  const meant = (word: string) => findNearest(word, names)
  expect(['strat', 'sed', 'tokens', 'doktor'].map(meant)).toEqual(['start', 'seed', 'token', 'doctor'])
  expect(['reset', 'worker', ''].map(meant)).toEqual([undefined, undefined, undefined])
})

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
