/** No damaged, forged or foreign file gets in, and what fails half-way serves nobody. */
import fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { BackupFixture, dumpTables, queryDatabase, readLines, restoreInto } from '#test/support/backup-fixture.ts'
import { TEST_MASTER_KEY } from '#test/support/database.ts'
import { type EmptyDatabase, runSql } from '#test/support/empty-database.ts'

let b: BackupFixture
beforeAll(async () => {
  b = await BackupFixture.create()
})
afterAll(() => b.close())

describe('a file is refused, and nothing is written,', () => {
  let whole: string
  let lines: string[]
  let target: EmptyDatabase

  beforeAll(async () => {
    whole = b.newFile()
    await b.take(whole)
    lines = readLines(whole)
    target = await b.newTarget()
  })

  async function expectRefused(file: string, sentence: RegExp, options: Parameters<typeof restoreInto>[2] = {}) {
    await expect(restoreInto(target, file, options)).rejects.toThrow(sentence)
    expect(Object.values(await dumpTables(target.postgres)).flat()).toEqual([])
  }

  test('when it was cut, wherever', async () => {
    const bytes = fs.readFileSync(whole)
    for (const share of [0, 0.1, 0.5, 0.9, 0.999]) {
      const cut = b.newFile()
      fs.writeFileSync(cut, bytes.subarray(0, Math.floor(bytes.length * share)))
      await expectRefused(cut, /cut off/)
    }
    for (const count of [1, 2, 40, lines.length - 1]) {
      await expectRefused(b.writeLines(lines.slice(0, count)), /cut off/)
    }
  })

  test('when a row, a count or a section was changed, added, removed or moved', async () => {
    const row = lines.findIndex((line) => line.startsWith('[') && line.includes('odd@example.com'))
    const end = lines.findIndex((line) => line.startsWith('{"end":{"rows":1'))
    const changed = lines.with(row, (lines[row] as string).replace('odd@', 'bad@'))
    const swapped = lines.with(row, lines[row + 1] as string).with(row + 1, lines[row] as string)
    const uncounted = lines.with(end, (lines[end] as string).replace('"rows":1', '"rows":2'))
    const emptied = lines.filter((_, index) => index !== end - 1)
    for (const made of [changed, swapped, uncounted, emptied])
      await expectRefused(b.writeLines(made), /the rows of a section are not those it was written with/)
    await expectRefused(b.writeLines([...lines, lines.at(-1) as string]), /do not fit together/)
    await expectRefused(b.writeLines(lines.with(2, 'garbage')), /a line is not as it was written|the rows of a section/)
  })

  test('when its bytes were flipped', async () => {
    const bytes = Buffer.from(fs.readFileSync(whole))
    const at = Math.floor(bytes.length / 2)
    bytes[at] = (bytes[at] as number) ^ 0xff
    const file = b.newFile()
    fs.writeFileSync(file, bytes)
    await expectRefused(file, /damaged/)
  })

  test('when every checksum is right but the master key did not seal it', async () => {
    const forged = b.forge(lines.map((line) => line.replace('odd@example.com', 'bad@example.com')))
    await expectRefused(forged, /sealed with a master key|was altered/)
    const other = createKeyring(Buffer.alloc(32, 9))
    const { key_id } = createKeyring(TEST_MASTER_KEY)
    const names_keys = new RegExp(
      `sealed with a master key .* names the master key ${key_id}; .* are ${other.key_id}\\.`,
    )
    await expectRefused(whole, names_keys, { keyring: other })
  })

  test('when it has another format, another schema, or is something else', async () => {
    const [header] = lines as [string]
    const other = (from: string, to: string) => b.forge(lines.with(0, header.replace(from, to)))
    await expectRefused(other('"format_version":1', '"format_version":2'), /has format 2/)
    const version = b.w.kernel.build.schema_version
    const older = other(`"schema_version":"${version}"`, '"schema_version":"0001"')
    await expectRefused(older, /taken at schema 0001 .* database is at/, { any_key: true })
    const name = b.newFile()
    fs.writeFileSync(name, gzipSync('{"some":"json"}\n'))
    await expectRefused(name, /is not a Probity backup/)
    const plain = b.newFile()
    fs.writeFileSync(plain, 'plain text')
    await expectRefused(plain, /is not a Probity backup/)
    await expectRefused(path.join(b.folder, 'missing'), /does not exist/)
  })

  test('when the database is not empty', async () => {
    const filled = await b.newTarget()
    // A master key that was rotated away still opens an old backup.
    await restoreInto(filled, whole, { keyring: createKeyring([Buffer.alloc(32, 9), TEST_MASTER_KEY]) })
    const before = await dumpTables(filled.postgres)
    await expect(restoreInto(filled, whole)).rejects.toThrow('The database is not empty: tenant has rows.')
    expect(await dumpTables(filled.postgres)).toEqual(before)
  })
})

test('a forged row of another tenant is refused by row-level security, and every tenant stays suspended', async () => {
  const file = b.newFile()
  await b.take(file)
  // The last tenant of the file, so that others have been restored before.
  const [victim, attacker] = [b.one.tenant_id, b.two.tenant_id].sort() as [string, string]
  const lines = readLines(file)
  const start = lines.indexOf(JSON.stringify({ section: { tenant_id: attacker, table: 'user_account' } }))
  const planted = (lines[start + 1] as string).replaceAll(attacker, victim).replace(/[0-9a-f]{12}"/, 'ffffffffffff"')
  const target = await b.newTarget()
  const forged = b.forge(lines.toSpliced(start + 2, 0, planted))
  await expect(restoreInto(target, forged, { any_key: true })).rejects.toThrow(
    /user_account of tenant .* could not be restored: .*row-level security.* every tenant suspended: drop it/s,
  )
  const states = await queryDatabase<{ state: string }>(target.postgres, 'select distinct state from app.tenant')
  expect(states).toEqual([{ state: 'suspended' }])
  const rows = await queryDatabase(target.postgres, 'select 1 from app.user_account where tenant_id = $1', [attacker])
  expect(rows).toEqual([])
})

test('a row that does not arrive as it was is noticed before its tenant is committed', async () => {
  const file = b.newFile()
  await b.take(file)
  const target = await b.newTarget()
  await runSql(
    target.postgres,
    `create function app.meddle() returns trigger language plpgsql as $$ begin new.name := upper(new.name); return new; end $$;
     create trigger meddle before insert on app.user_account for each row execute function app.meddle()`,
  )
  await expect(restoreInto(target, file)).rejects.toThrow(/user_account of tenant .* is not what the backup holds/)
  expect(await queryDatabase(target.postgres, 'select 1 from app.user_account')).toEqual([])
})
