/** The operator publishes shared lists with the real tool on a real database: tenants see them, and every act is on record. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main } from '#app/main.ts'
import { TEST_MASTER_KEY } from './support/database.ts'
import { type CommandResult, runCommand } from './support/run-command.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

let w: TestApp
let token: string
let folder: string
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  w = await startTestApp()
  token = await w.token()
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-shared-'))
  const key_file = path.join(folder, 'master.key')
  fs.writeFileSync(key_file, TEST_MASTER_KEY.toString('hex'), { mode: 0o600 })
  env = {
    ...process.env,
    NODE_ENV: 'development',
    DATABASE_URL: urlOf(w.clone.app),
    WORKER_DATABASE_URL: urlOf(w.clone.worker),
    STEWARD_DATABASE_URL: urlOf(w.clone.steward),
    PROBITY_MASTER_KEY_FILE: key_file,
  }
})
afterAll(async () => {
  await w.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

function urlOf({ user, password, host, port, database }: pg.ClientConfig): string {
  const secret = encodeURIComponent(String(password ?? ''))
  // A socket folder is not valid where a host name is expected.
  return `postgres://${user}:${secret}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`
}

const probity = (...argv: string[]): Promise<CommandResult> => runCommand(['reference-data', ...argv, '--shared'], env)
const done = async (...argv: string[]): Promise<string> => {
  const said = await probity(...argv)
  expect(said).toMatchObject({ code: 0 })
  return said.stdout
}

let files = 0
function save(...rows: string[]): string {
  const file = path.join(folder, `source-${++files}.csv`)
  fs.writeFileSync(file, ['division,section,title,rating,score_bps', ...rows, ''].join('\n'))
  return file
}
const FIRST = ['01,A,Crops,low,500', '02,A,Forestry,low,700', '05,B,Coal,medium,3000']
const SECOND = ['01,A,Crops,low,500', '02,A,Forestry,medium,2500', '92,R,Gambling,high,8000']
const TARGET = ['--list', 'test-industries', '--adapter', 'csv', '--actor', 'ada']

const get = async (at: string) => (await w.call(`GET ${at}`, { token })).json
const resolved = async () => {
  const { version, code, via } = await get('/reference-data/resolve/test-industries')
  return { version, code, via }
}

interface OperatorEvent {
  readonly seq: number
  readonly recorded_at: string
  readonly actor: string
  readonly operation: string
  readonly subject: string
  readonly detail: Record<string, unknown>
  readonly prev_hash: string
  readonly hash: string
}
const eventsOf = async (subject: string): Promise<OperatorEvent[]> => {
  const { items } = await get('/reference-data/operator-events?limit=200')
  return items.filter((event: OperatorEvent) => event.subject === subject).toReversed()
}

describe('a file of changes', () => {
  test('is applied to the newest version of a shared list', async () => {
    const target = ['--list', 'test-changes', '--adapter', 'csv', '--actor', 'ada']
    const first = await done('import', save(...FIRST), ...target, '--type', 'industry-risk', '--title', 'Test changes')
    expect(first).toMatch(/activate --shared --list \S+ --version 1 --reason 'WHY'" is next\./)
    const [changes, keys] = [path.join(folder, 'changes.csv'), path.join(folder, 'keys.txt')]
    fs.writeFileSync(changes, 'division,section,title,rating,score_bps,action\n02,A,Forestry,high,9000,C\n05,,,,,D\n')
    fs.writeFileSync(keys, '01\n')
    const delta = ['--delta-base', '1', '--removed-marker', '/action=D', '--removed-keys', keys]
    expect(await done('import', changes, ...target, ...delta)).toContain('0 added, 2 removed, 1 changed')
    const version = await get('/reference-data/datasets/test-changes/versions/2?origin=shared')
    expect(version).toMatchObject({ delta_base_version: 1, data: [{ division: '02', score_bps: 9000 }] })
  })
})

/** The tests run in order: each needs the result of the one before. */
describe.sequential('from a file to every tenant, and back', () => {
  test('a new list is registered with its first version, and pending for a day', async () => {
    const new_list = ['--type', 'industry-risk', '--title', 'Test industries', '--overlay-policy', 'add_only']
    const out = await done('import', save(...FIRST), ...TARGET, ...new_list, '--label', 'q1', '--activate')
    expect(out).toMatch(
      /^Version 1 of test-industries: 3 entries; .* 3 added, 0 removed, 0 changed\. Content hash [0-9a-f]{64}/,
    )
    const list = await get('/reference-data/datasets/test-industries')
    expect(list).toMatchObject({ origin: 'shared', overlay_policy: 'add_only', active: null, head_version: 1 })
    expect(list.pending).toMatchObject([{ version: 1, reason: expect.stringMatching(/^Import of source-/) }])
    const ahead_ms = Date.parse(list.pending[0].effective_from) - Date.parse(list.created_at)
    expect(ahead_ms).toBeGreaterThan(24 * 3600 * 1000 - 60_000)
    expect(await resolved()).toMatchObject({ code: 'nothing_in_force' })
  })

  test('activated now, with a reason, every tenant resolves it', async () => {
    const said = await probity(
      'activate',
      '--list',
      'test-industries',
      '--version',
      'q1',
      '--now',
      'Needed today',
      '--actor',
      'ada',
    )
    expect(said).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Version 1 of test-industries is in force from /),
    })
    expect(said.stderr).toContain('Nothing is in force yet')
    expect(await resolved()).toMatchObject({ version: 1, via: 'shared' })
    const { entry } = await get('/reference-data/resolve/test-industries/entry?key=05')
    expect(entry).toMatchObject({ title: 'Coal', score_bps: 3000 })
  })

  test('a second version, what differs, and a rollback that revokes what was scheduled', async () => {
    const out = await done(
      'import',
      save(...SECOND),
      ...TARGET,
      '--expected-head',
      '1',
      '--activate',
      '--now',
      'Gambling',
    )
    expect(out).toMatch(/1 added, 1 removed, 1 changed/)
    expect(await resolved()).toMatchObject({ version: 2 })
    const difference = JSON.parse(
      await done('diff', '--list', 'test-industries', '--from', 'q1', '--to', '2', '--json'),
    )
    expect(difference).toMatchObject({ from: 1, to: 2, summary: { added: 1, removed: 1, changed: 1 }, total: 3 })
    expect(difference.items.map(({ op, key }: { op: string; key: string }) => `${op} ${key}`)).toEqual([
      'changed 02',
      'removed 05',
      'added 92',
    ])
    const read = await done('diff', '--list', 'test-industries', '--from', '1', '--to', '2')
    expect(read).toMatch(/^changed +02 +\/rating +low +medium$/m)

    const rolled = await done('rollback', '--list', 'test-industries', '--now', 'Gambling was wrong', '--actor', 'ada')
    expect(rolled).toMatch(/^Version 1 of test-industries is in force again, instead of 2\.\nRevoked: version 1 from /)
    expect(await resolved()).toMatchObject({ version: 1 })
    await done('withdraw', '--list', 'test-industries', '--version', '2', '--reason', 'Wrong', '--actor', 'ada')
    const again = await probity('activate', '--list', 'test-industries', '--version', '2', '--now', 'Once more')
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Version 2 is withdrawn.') })
  })

  test('each act is on record, once, chained, and readable by tenants', async () => {
    const events = await eventsOf('list:test-industries')
    expect(events.map(({ actor, operation }) => `${actor} ${operation}`)).toEqual([
      'operator:ada registerSharedList',
      'operator:ada importSharedList',
      'operator:ada scheduleSharedVersion',
      'operator:ada activateSharedVersion',
      'operator:ada importSharedList',
      'operator:ada activateSharedVersion',
      'operator:ada rollBackSharedList',
      'operator:ada withdrawSharedVersion',
    ])
    expect(events[6]?.detail).toMatchObject({ from: 2, to: 1, reason: 'Gambling was wrong' })
    for (const [index, { prev_hash }] of events.entries()) {
      if (index > 0) expect(prev_hash).toBe(events[index - 1]?.hash)
    }
  })
})

describe('refused, with exit code 1 and nothing left behind', () => {
  test('rejected rows are shown with their lines, and all of them kept where asked', async () => {
    const bad = Array.from({ length: 25 }, (_, n) => `${n + 10},A,Bad ${n},terrible,1`)
    const rejects = path.join(folder, 'rejects.ndjson')
    const before = await eventsOf('list:industry-risk')
    const said = await probity(
      'import',
      save(...bad),
      '--list',
      'industry-risk',
      '--adapter',
      'csv',
      '--rejects',
      rejects,
    )
    expect(said).toMatchObject({ code: 1, stdout: '' })
    expect(said.stderr).toMatch(/^row +line +where +message$/m)
    expect(said.stderr).toMatch(/^1 +2 +\S+ +.*rating/im)
    // The list itself would be too short: that is no row, but it is a reject.
    expect(said.stderr).toContain('and 6 more')
    expect(said.stderr).toContain('25 of 25 rows were rejected; nothing was imported.')
    expect(fs.readFileSync(rejects, 'utf8').trim().split('\n')).toHaveLength(26)
    expect(await eventsOf('list:industry-risk')).toEqual(before)
  })

  test('one file of a set is refused, and read when the others are said to be absent', async () => {
    const file = path.join(folder, 'sdn.csv')
    const party = `7,"DOE, Jo","individual","SDGT",${'-0- ,'.repeat(7)}-0- `
    fs.writeFileSync(file, `${party}\r\n\x1a`)
    const target = ['--list', 'test-sdn', '--adapter', 'ofac-sdn-csv', '--type', 'sanctioned-party', '--title', 'SDN']
    const refused = await probity('import', file, ...target)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('This is one file of a set, without alt.csv (aliases), add.csv (addresses)')
    const options = JSON.stringify({ absent_files: ['alt', 'add', 'sdn_comments'] })
    const said = await probity('import', file, ...target, '--options', options)
    expect(said).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Version 1 of test-sdn: 1 entry/) })
    expect(said.stderr).toContain('alt.csv: absent\n')
    expect(said.stderr).toContain('The file: read as utf-8\n')
  })

  test('an import says what it lacks: a list that is not there, an adapter of another type', async () => {
    const unknown = await probity('import', save(...FIRST), '--list', 'no-such-list', '--adapter', 'csv')
    expect(unknown.stderr).toMatch(/no shared list "no-such-list".* A new list is registered with --type and --title\./)
    const other = await probity('import', save(...FIRST), '--list', 'industry-risk', '--adapter', 'ofac-sdn-xml')
    expect(other.stderr).toContain('reads entries of the type sanctioned-party, not of industry-risk.')
    expect([unknown.code, other.code]).toEqual([1, 1])
  })

  test('a guard is a closed gate, which a reason opens', async () => {
    const file = save(...FIRST)
    const order = ['import', file, '--list', 'industry-risk', '--adapter', 'csv']
    const refused = await probity(...order)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/entries would be removed; at most 10 %/)
    const { head_version } = await get('/reference-data/datasets/industry-risk')
    expect(await done(...order, '--override-guards', 'A short list on purpose')).toMatch(
      new RegExp(`^Version ${head_version + 1} of industry-risk: 3 entries`),
    )
    expect(await done(...order, '--on-unchanged', 'skip')).toBe('industry-risk is unchanged; no version was made.\n')
    const moved = await probity(...order, '--expected-head', String(head_version))
    expect(moved).toMatchObject({ code: 1, stderr: expect.stringMatching(/The newest version.* is \d+, not \d+/) })
  })

  test.each([
    [
      'a list that is not there',
      ['diff', '--list', 'curencies', '--from', '1', '--to', '2'],
      /did you mean "currencies"\?/,
    ],
    [
      'a version that is not there',
      ['diff', '--list', 'countries', '--from', '1', '--to', '99'],
      /has no version "99"; it has 1 to/,
    ],
    [
      'nothing to go back to',
      ['rollback', '--list', 'countries', '--now', 'x'],
      /Only one version was ever in force; there is nothing to go back to\./,
    ],
  ])('%s', async (_, argv, sentence) => {
    const said = await probity(...argv)
    expect(said.stderr).toMatch(sentence)
    expect(said).toMatchObject({ code: 1, stdout: '' })
  })
})

test('lists and types are shown', async () => {
  const lists = JSON.parse(await done('list', '--json'))
  expect(lists).toContainEqual(
    expect.objectContaining({ list_key: 'countries', newest: 1, in_force: 1, state: 'live' }),
  )
  expect(await done('types')).toMatch(/^industry-risk +1 +\/division +Industry risk$/m)
})

describe('a wrong command line is reported without a database, with exit code 2', () => {
  const file = import.meta.filename
  const list = ['--shared', '--list', 'l']
  const tomorrow = new Date(Date.now() + 23 * 3600 * 1000).toISOString()
  test.each([
    [['list'], /^Say --shared/],
    [['activate', ...list], /^--version is missing/],
    [['activate', ...list, '--version', '1'], /^--reason is missing/],
    [['activate', ...list, '--version', '1', '--now', 'a', '--reason', 'b'], /^--now carries the reason/],
    [['activate', ...list, '--version', '1', '--now', 'a', '--actor', 'a b'], /^--actor must be/],
    [['schedule', ...list, '--version', '1', '--reason', 'b'], /^--at is missing/],
    [['schedule', ...list, '--version', '1', '--reason', 'b', '--at', 'noon'], /^--at must be an instant/],
    [
      ['schedule', ...list, '--version', '1', '--reason', 'b', '--at', tomorrow],
      /^--at must be at least 24 hours ahead/,
    ],
    [['rollback', ...list], /^--now is missing/],
    [['withdraw', ...list, '--version', '1'], /^--reason is missing/],
    [['diff', ...list, '--from', '1'], /^--to is missing/],
    [['diff', ...list, '--from', '1', '--to', '2', '--limit', '0'], /^--limit must be/],
    [['import', ...list], /^FILE is missing/],
    [['import', file, ...list], /^--adapter is missing/],
    [['import', file, ...list, '--adapter', 'csvs'], /^--adapter "csvs" is not known; did you mean "csv"\?/],
    [['import', file, ...list, '--adapter', 'csv', '--options', '{'], /^--options must be JSON/],
    [['import', file, ...list, '--adapter', 'csv', '--options', '{"x":1}'], /^--options do not fit the adapter csv/],
    [['import', file, ...list, '--adapter', 'csv', '--now', 'x'], /^--now and --at go with --activate/],
    [['import', file, ...list, '--adapter', 'csv', '--activate', '--now', 'x', '--at', 'y'], /^--now and --at exclude/],
    [['import', file, ...list, '--adapter', 'csv', '--label', '12'], /^--label must be/],
    [['import', file, ...list, '--adapter', 'csv', '--on-unchanged', 'x'], /^--on-unchanged is publish or skip/],
    [['import', file, ...list, '--adapter', 'csv', '--title', 'T'], /^--title and --overlay-policy are for a new list/],
    [['import', file, ...list, '--adapter', 'csv', '--type', 't'], /^--title is missing/],
    [
      ['import', file, ...list, '--adapter', 'csv', '--type', 't', '--title', 'T', '--overlay-policy', 'x'],
      /^--overlay-policy is/,
    ],
    [['import', file, '--shared', '--list', 'A b', '--adapter', 'csv'], /^--list must be/],
  ])('%j', async (argv, sentence) => {
    const notes: string[] = []
    const terminal = { out: () => {}, note: (text: string) => void notes.push(text) }
    const code = await main(['reference-data', ...argv], {}, terminal)
    expect(notes.join('\n')).toMatch(sentence)
    expect(code).toBe(2)
  })
})
