import { createSecretKey, randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { RaiseAlarm } from '#kernel/alarm.ts'
import { CountingCache } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { fullScope } from '../database/scope.ts'
import { DecryptionFailed, OwnerKeyDestroyed } from './failures.ts'
import { createKeyring, type KeyWrapper } from './keyring.ts'
import { TenantKeys, tenantKeyCache } from './tenant-keys.ts'
import { createValueEncryption, type KeyOwner, type ValueLocation } from './value-encryption.ts'
import { decryptValue, encryptValue } from './value-format.ts'

describe('the stored form of a value', () => {
  const key = { tenant_id: uuidv7(), key_no: 1, key: createSecretKey(Buffer.alloc(32, 1)) }
  const at: ValueLocation = { table: 'provider_credential', row_id: `${uuidv7()}/1`, column: 'secret' }

  test('is format, key number, nonce, ciphertext and tag, and different each time', () => {
    const stored = encryptValue({ ...key, key_no: 258 }, at, Buffer.from('hunter2'))
    expect(stored.subarray(0, 5).toString('hex')).toBe('0200000102')
    expect(stored.length).toBe(5 + 12 + 7 + 16)
    expect(encryptValue({ ...key, key_no: 258 }, at, Buffer.from('hunter2'))).not.toEqual(stored)
    expect(encryptValue(key, at, Buffer.alloc(0)).length).toBe(33)
  })

  test('does not decrypt when any bit is flipped, or when it is cut or extended', () => {
    for (const plaintext of ['', 'hunter2']) {
      const stored = encryptValue(key, at, Buffer.from(plaintext))
      expect(decryptValue(key, at, stored).toString()).toBe(plaintext)
      for (let bit = 0; bit < stored.length * 8; bit++) {
        const flipped = Buffer.from(stored)
        flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
        expect(() => decryptValue(key, at, flipped)).toThrow(DecryptionFailed)
      }
      for (let length = 0; length < stored.length; length++) {
        expect(() => decryptValue(key, at, stored.subarray(0, length))).toThrow(DecryptionFailed)
      }
      expect(() => decryptValue(key, at, Buffer.concat([stored, Buffer.alloc(1)]))).toThrow(DecryptionFailed)
    }
  })

  test('does not decrypt in another tenant, table, row, version, column, or with another key', () => {
    const stored = encryptValue(key, at, Buffer.from('hunter2'))
    const elsewhere: ValueLocation[] = [
      { ...at, table: 'credential_token' },
      { ...at, column: 'other' },
      { ...at, row_id: `${uuidv7()}/1` },
      { ...at, row_id: at.row_id.replace('/1', '/2') },
    ]
    for (const place of elsewhere) expect(() => decryptValue(key, place, stored)).toThrow(DecryptionFailed)
    expect(() => decryptValue({ ...key, tenant_id: uuidv7() }, at, stored)).toThrow(DecryptionFailed)
    expect(() => decryptValue({ ...key, key: randomBytes(32) }, at, stored)).toThrow(DecryptionFailed)
    expect(() => decryptValue({ ...key, key_no: 2 }, at, stored)).toThrow(DecryptionFailed)
  })

  test.each([
    { table: 'a|b', row_id: '1', column: 'c' },
    { table: 'a', row_id: '1|2', column: 'c' },
    { table: 'a', row_id: '', column: 'c' },
    { table: 'a', row_id: '1', column: 'C' },
  ])('needs a location that cannot be read in two ways: %j', (place) => {
    expect(() => encryptValue(key, place, Buffer.from('x'))).toThrow(TypeError)
  })
})

describe('value encryption', () => {
  let w: TestApp
  let superuser: pg.Client
  beforeAll(async () => {
    w = await startTestApp()
    superuser = new pg.Client(w.clone.postgres)
    await superuser.connect()
    await superuser.query(`set app.actor = 'operator:test'`)
  })
  afterAll(async () => {
    await superuser.end()
    await w.close()
  })

  const at = (column = 'secret'): ValueLocation => ({ table: 'example', row_id: '1', column })
  const newOwner = (kind: KeyOwner['kind'] = 'object'): KeyOwner => ({ kind, id: uuidv7() })
  const write = <T>(tenant_id: string, body: (tx: Tx) => Promise<T>) =>
    w.runtime.database.write(fullScope(tenant_id, 'operator:test'), body)
  const read = <T>(tenant_id: string, body: (tx: Tx) => Promise<T>) =>
    w.runtime.database.read(fullScope(tenant_id, 'operator:test'), body)
  const countKeys = async (tenant_id: string) =>
    (
      await superuser.query('select owner_kind, owner_id, key_no, state from app.owner_key where tenant_id = $1', [
        tenant_id,
      ])
    ).rows.length

  test('decrypts what it has encrypted, also in another process and in a transaction that only reads', async () => {
    const tenant_id = await w.makeTenant()
    const [one, two] = [newOwner(), newOwner('subject')]
    const { encryption } = w.kernel
    const [first, second] = await write(tenant_id, async (tx) => [
      await encryption.encrypt(tx, one, at(), Buffer.from('first')),
      await encryption.encrypt(tx, two, at(), Buffer.from('second')),
    ])
    const other = createProcess()
    for (const each of [encryption, other.encryption]) {
      expect((await read(tenant_id, (tx) => each.decrypt(tx, one, at(), first as Buffer))).toString()).toBe('first')
      expect((await read(tenant_id, (tx) => each.decrypt(tx, two, at(), second as Buffer))).toString()).toBe('second')
    }
    expect(other.calls).toEqual({ wrap: 0, unwrap: 1 })
    expect(await countKeys(tenant_id)).toBe(2)
  })

  test('refuses values that were swapped between owners, tenants and columns, and raises an alarm', async () => {
    const [tenant_id, other_id] = [await w.makeTenant(), await w.makeTenant()]
    const { encryption, alarms } = createProcess()
    const owner = newOwner()
    const others = { ...newOwner('subject'), id: owner.id }
    const [stored, ofSubject] = await write(tenant_id, async (tx) => [
      await encryption.encrypt(tx, owner, at(), Buffer.from('secret')),
      await encryption.encrypt(tx, others, at(), Buffer.from('secret')),
    ])
    const foreign = await write(other_id, (tx) => encryption.encrypt(tx, owner, at(), Buffer.from('secret')))
    const attempts: readonly (readonly [string, KeyOwner, ValueLocation, Buffer | undefined])[] = [
      [tenant_id, owner, at('other'), stored],
      [tenant_id, others, at(), stored],
      [tenant_id, owner, at(), ofSubject],
      [tenant_id, owner, at(), foreign],
      [other_id, owner, at(), stored],
      [tenant_id, newOwner(), at(), stored],
      [tenant_id, owner, at(), Buffer.from('v1.plain')],
    ]
    for (const [id, who, where, value] of attempts) {
      const failure = read(id, (tx) => encryption.decrypt(tx, who, where, value as Buffer))
      await expect(failure).rejects.toThrow(DecryptionFailed)
    }
    expect(alarms).toHaveBeenCalledTimes(attempts.length)
    expect(alarms.mock.calls[0]?.[0]).toBe('decryption_failed')
    expect(alarms.mock.calls[0]?.[1]).toMatchObject({ tenant_id, table: 'example', row_id: '1', column: 'other' })
  })

  test('refuses an owner key or tenant key that was moved to another row in the database', async () => {
    const [tenant_id, other_id] = [await w.makeTenant(), await w.makeTenant()]
    const { encryption } = createProcess()
    const [one, two] = [newOwner(), newOwner()]
    await write(other_id, (tx) => encryption.encrypt(tx, newOwner(), at(), Buffer.from('x')))
    const stored = await write(tenant_id, async (tx) => {
      await encryption.encrypt(tx, two, at(), Buffer.from('x'))
      return encryption.encrypt(tx, one, at(), Buffer.from('x'))
    })
    await superuser.query(
      `update app.owner_key set wrapped = (select wrapped from app.owner_key where owner_id = $2) where owner_id = $1`,
      [one.id, two.id],
    )
    await expect(read(tenant_id, (tx) => encryption.decrypt(tx, one, at(), stored))).rejects.toThrow(DecryptionFailed)
    await superuser.query(
      `update app.tenant_key set wrapped = (select wrapped from app.tenant_key where tenant_id = $2) where tenant_id = $1`,
      [tenant_id, other_id],
    )
    const later = createProcess()
    const failure = write(tenant_id, (tx) => later.encryption.encrypt(tx, newOwner(), at(), Buffer.from('x')))
    await expect(failure).rejects.toThrow(DecryptionFailed)
    expect(later.alarms.mock.calls[0]?.[0]).toBe('key_unavailable')
  })

  test('creates the first key of a tenant once, when processes need it at the same time', async () => {
    const tenant_id = await w.makeTenant()
    const owner = newOwner()
    const values = await Promise.all(
      Array.from({ length: 6 }, () => {
        const { encryption } = createProcess()
        return write(tenant_id, (tx) => encryption.encrypt(tx, owner, at(), Buffer.from('same owner')))
      }),
    )
    for (const stored of values) {
      const opened = await read(tenant_id, (tx) => w.kernel.encryption.decrypt(tx, owner, at(), stored))
      expect(opened.toString()).toBe('same owner')
    }
    const { rows } = await superuser.query('select key_no, state from app.tenant_key where tenant_id = $1', [tenant_id])
    expect(rows).toEqual([{ key_no: '1', state: 'active' }])
    expect(await countKeys(tenant_id)).toBe(1)
  })

  test('unwraps a tenant key once for requests that come together, and again after an hour', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] })
    try {
      const tenant_id = await w.makeTenant()
      const process = createProcess()
      const encrypt = () => write(tenant_id, (tx) => process.encryption.encrypt(tx, newOwner(), at(), Buffer.from('x')))
      await Promise.all(Array.from({ length: 5 }, encrypt))
      expect(process.calls.unwrap).toBe(1)
      vi.advanceTimersByTime(3_599_000)
      await encrypt()
      expect(process.calls.unwrap).toBe(1)
      vi.advanceTimersByTime(2000)
      await encrypt()
      expect(process.calls.unwrap).toBe(2)
    } finally {
      vi.useRealTimers()
    }
  })

  test('creates the key of a new owner with COMMIT, by the tenant key that is active now', async () => {
    const tenant_id = await w.makeTenant()
    const { encryption } = createProcess()
    const encrypt = async (owner = newOwner()) => {
      const texts: string[] = []
      const stored = await write(tenant_id, (tx) => {
        const run: Tx['run'] = (text, values) => {
          texts.push(text)
          return tx.run(text, values)
        }
        const query: Tx['query'] = (text, values) => {
          texts.push(text)
          return tx.query(text, values)
        }
        return encryption.encryptFirst({ ...tx, run, query }, owner, at(), Buffer.from('x'))
      })
      expect((await read(tenant_id, (tx) => encryption.decrypt(tx, owner, at(), stored))).toString()).toBe('x')
      const { rows } = await superuser.query('select tenant_key_no from app.owner_key where owner_id = $1', [owner.id])
      return [texts.length, Number(rows[0].tenant_key_no)]
    }
    await encrypt()
    expect(await encrypt()).toEqual([0, 1])
    // As a rotation in another process does.
    await superuser.query(`update app.tenant_key set state = 'retiring' where tenant_id = $1`, [tenant_id])
    expect((await encrypt())[1]).toBe(2)
    expect(await encrypt()).toEqual([0, 2])
    const owner = newOwner()
    await write(tenant_id, (tx) => encryption.destroyOwner(tx, owner))
    await expect(encrypt(owner)).rejects.toMatchObject({ code: 'duplicate' })
  })

  test('neither decrypts nor encrypts for an owner whose key was destroyed', async () => {
    const tenant_id = await w.makeTenant()
    const { encryption } = w.kernel
    const owner = newOwner('subject')
    const stored = await write(tenant_id, (tx) => encryption.encrypt(tx, owner, at(), Buffer.from('x')))
    await superuser.query(
      `update app.owner_key set state = 'destroyed', wrapped = null, tenant_key_no = null, destroyed_at = now() where owner_id = $1`,
      [owner.id],
    )
    await expect(read(tenant_id, (tx) => encryption.decrypt(tx, owner, at(), stored))).rejects.toThrow(
      OwnerKeyDestroyed,
    )
    const again = write(tenant_id, (tx) => encryption.encrypt(tx, owner, at(), Buffer.from('x')))
    await expect(again).rejects.toThrow(OwnerKeyDestroyed)
  })

  test('computes fingerprints that are equal inside one tenant and purpose only', async () => {
    const [tenant_id, other_id] = [await w.makeTenant(), await w.makeTenant()]
    const fingerprint = (id: string, purpose: string, text: string) =>
      read(id, (tx) => w.kernel.encryption.fingerprint(tx, purpose, Buffer.from(text)))
    const first = await fingerprint(tenant_id, 'credential', 'hunter2')
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(await fingerprint(tenant_id, 'credential', 'hunter2')).toBe(first)
    const different = await Promise.all([
      fingerprint(tenant_id, 'credential', 'hunter3'),
      fingerprint(tenant_id, 'token', 'hunter2'),
      fingerprint(other_id, 'credential', 'hunter2'),
    ])
    expect(new Set([first, ...different]).size).toBe(4)
  })

  test('is kept by the database: keys are not removed, changed or destroyed while something needs them', async () => {
    const tenant_id = await w.makeTenant()
    await write(tenant_id, (tx) => w.kernel.encryption.encrypt(tx, newOwner(), at(), Buffer.from('x')))
    const app = (sql: string) => write(tenant_id, (tx) => tx.run(sql))
    const steward = (sql: string) =>
      w.steward.write(fullScope(tenant_id, 'operator:test'), (tx) => tx.run(`${sql} where tenant_id = app.tenant_id()`))
    await expect(app('delete from app.owner_key')).rejects.toThrow('permission denied')
    await expect(app('delete from app.tenant_key')).rejects.toThrow('permission denied')
    await expect(app(`update app.tenant_key set wrapped = 'x'`)).rejects.toThrow('permission denied')
    await expect(app('update app.owner_key set owner_id = app.tenant_id()')).rejects.toThrow(
      'nothing else of it changes',
    )
    await expect(steward('delete from app.tenant_key')).rejects.toThrow('permission denied')
    const destroy = `update app.tenant_key set state = 'destroyed', wrapped = null, wrapped_by = null, destroyed_at = now()`
    await expect(steward(destroy)).rejects.toThrow('active to retiring to destroyed')
    expect(await steward(`update app.tenant_key set state = 'retiring'`)).toBe(1)
    await expect(steward(destroy)).rejects.toThrow('owner_key_tenant_key_fk')
    await expect(steward(`update app.tenant_key set state = 'active'`)).rejects.toThrow('active to retiring')
  })

  /** Another process on the same database: its own cache, and a count of the calls of its master key. */
  function createProcess() {
    const keyring = createKeyring(Buffer.alloc(32, 7))
    const calls = { wrap: 0, unwrap: 0 }
    const alarms = vi.fn<RaiseAlarm>()
    const wrapper: KeyWrapper = {
      ...keyring,
      wrap: (key, context) => {
        calls.wrap++
        return keyring.wrap(key, context)
      },
      unwrap: (wrapped, context) => {
        calls.unwrap++
        return keyring.unwrap(wrapped, context)
      },
    }
    const shared = { transactions: w.runtime.database, raiseAlarm: alarms }
    const tenantKeys = new TenantKeys({ wrapper, cache: new CountingCache(tenantKeyCache), ...shared })
    return { encryption: createValueEncryption({ tenantKeys, ...shared }), calls, alarms }
  }
})
