import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { projectRoot } from '#test/support/database.ts'
import { startKeyService } from '#test/support/key-service.ts'
import { DecryptionFailed, KeyCommandFailed, MasterKeyMissing } from './failures.ts'
import { combineKeyrings, createKeyCommand } from './key-command.ts'
import { createKeyring } from './keyring.ts'

const service = startKeyService()
afterAll(() => service.close())
beforeEach(() => service.behave('work'))

const key = Buffer.alloc(32, 3)
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('a key command', () => {
  const command = createKeyCommand(service.options)

  test('unwraps what it has wrapped, in the same context only', async () => {
    const wrapped = await command.wrap(key, 'tenant:a')
    expect(wrapped).toMatch(/^c2\.kms-1\.[\w-]+\.[\w-]{43}$/)
    expect(await command.unwrap(wrapped, 'tenant:a')).toEqual(key)
    // The service of this test ignores the context.
    await expect(command.unwrap(wrapped, 'tenant:b')).rejects.toThrow(DecryptionFailed)
    expect(command.listCalls().filter(({ count }) => count > 0)).toEqual([
      { operation: 'wrap', outcome: 'ok', count: 1 },
      { operation: 'unwrap', outcome: 'ok', count: 2 }, // Of what was wrapped, and of the first unwrapping.
    ])
  })

  test('wraps with its first key and unwraps with all that are named', async () => {
    const later = createKeyCommand({ ...service.options, key_ids: ['kms-2', 'kms-1'] })
    const [old, renewed] = [await command.wrap(key, 'x'), await later.wrap(key, 'x')]
    expect(renewed).toMatch(/^c2\.kms-2\./)
    expect(await later.unwrap(old, 'x')).toEqual(key)
    await expect(command.unwrap(renewed, 'x')).rejects.toThrow(MasterKeyMissing)
  })

  test.each([
    '',
    'c1.kms-1',
    'c1.kms-1.',
    'c1.kms-1.*',
    'c1.kms-1.AB',
    'v1.kms-1.AAAA',
    'c1.kms-1.AAAA.AAAA',
    'c2.kms-1.AAAA',
    'c2.kms-1.AAAA.AAAA',
  ])('does not pass on a text that it cannot have wrapped: %j', async (text) => {
    await expect(command.unwrap(text, 'x')).rejects.toThrow(DecryptionFailed)
  })

  test.each([
    ['fail', 'exit_code', 'ended with exit code 1: AccessDenied: … is not allowed'],
    ['garbage', 'bad_answer', 'printed something that is not JSON'],
    ['empty', 'bad_answer', 'printed no member "wrapped" in base64'],
    ['flood', 'bad_answer', 'printed too much'],
  ] as const)('that does %s is named by its outcome', async (behaviour, outcome, message) => {
    service.behave(behaviour)
    const failing = createKeyCommand(service.options)
    const failure = await failing.wrap(key, 'x').catch((error) => error)
    expect(failure).toBeInstanceOf(KeyCommandFailed)
    expect(failure).toMatchObject({ code: 'dependency_unavailable', outcome, message: `The key command ${message}` })
    expect(failing.listCalls()).toContainEqual({ operation: 'wrap', outcome, count: 1 })
  })

  test.each([
    ['wrap-constant', 'wrong_key', 'returned another key'],
    ['wrap-truncated', 'exit_code', 'ended with exit code 3'],
    ['unwrap-other', 'wrong_key', 'returned another key'],
  ] as const)('that does %s returns no wrapped key', async (behaviour, outcome, reason) => {
    service.behave(behaviour)
    await expect(command.wrap(key, 'x')).rejects.toMatchObject({
      code: 'dependency_unavailable',
      outcome,
      message:
        `The key command ${service.program} does not unwrap what it has just wrapped with the key kms-1, so the key was ` +
        `not stored: it ${reason}`,
    })
  })

  test('that unwraps to another key is distinguished from a text that was altered or moved', async () => {
    const wrapped = await command.wrap(key, 'x')
    const [prefix, id, text, checksum] = wrapped.split('.') as [string, string, string, string]
    const altered = [prefix, id, `${text.slice(0, -4)}AAAA`, checksum].join('.')
    service.behave('unwrap-other')
    await expect(command.unwrap(wrapped, 'x')).rejects.toMatchObject({
      code: 'dependency_unavailable',
      outcome: 'wrong_key',
      message: expect.stringContaining('the stored text is intact'),
    })
    await expect(command.unwrap(altered, 'x')).rejects.toThrow(DecryptionFailed)
    await expect(command.unwrap(wrapped, 'y')).rejects.toThrow(DecryptionFailed)
  })

  test('unwraps a text of the earlier format, which has no checksum', async () => {
    const digest = createHash('sha256').update('x').digest()
    const plaintext = Buffer.concat([digest, key]).toString('base64')
    const earlier = `c1.kms-1.${Buffer.from(`kms-1,${plaintext}`).toString('base64url')}`
    expect(await command.unwrap(earlier, 'x')).toEqual(key)
    expect(await combineKeyrings(null, command, 'command').unwrap(earlier, 'x')).toEqual(key)
    await expect(command.unwrap(earlier, 'y')).rejects.toThrow(DecryptionFailed)
  })

  test('that does not exist is named by its outcome', async () => {
    const missing = createKeyCommand({ ...service.options, argv: ['/nowhere/kms'] })
    await expect(missing.wrap(key, 'x')).rejects.toMatchObject({ outcome: 'not_started' })
  })

  test('that hangs is killed with everything it has started', async () => {
    service.behave('hang')
    const before = service.listPids().length
    const hanging = createKeyCommand({ ...service.options, timeout_ms: 1500 })
    await expect(hanging.wrap(key, 'x')).rejects.toMatchObject({ outcome: 'timeout' })
    const pids = service.listPids().slice(before)
    expect(pids).not.toEqual([])
    await vi.waitUntil(() => !pids.some(isRunning), { timeout: 60_000, interval: 5 })
  })

  test('is not started more than eight times at once', async () => {
    service.behave('hang')
    const before = service.listPids().length
    const hanging = createKeyCommand({ ...service.options, timeout_ms: 1000 })
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => hanging.wrap(key, 'x').catch((error) => error.message as string)),
    )
    expect(outcomes.filter((text) => text.includes('is busy'))).toHaveLength(12)
    expect(service.listPids().length - before).toBeLessThanOrEqual(16)
  })

  test('gets neither a shell nor the database passwords, and its words are checked', async () => {
    const odd = createKeyCommand({ ...service.options, argv: [service.program, '; exit 9', '$(exit 9)'] })
    expect(await odd.unwrap(await odd.wrap(key, '"; `exit 9`'), '"; `exit 9`')).toEqual(key)
  })
})

describe('files and a command together', () => {
  const files = createKeyring(Buffer.alloc(32, 1))
  const command = createKeyCommand(service.options)

  test('unwrap by who has wrapped, and wrap with the current one', async () => {
    const [byFile, byCommand] = [combineKeyrings(files, command, 'file'), combineKeyrings(files, command, 'command')]
    expect(byFile.key_ids).toEqual([files.key_id, 'kms-1'])
    expect(byCommand.key_ids).toEqual(['kms-1', files.key_id])
    const texts = [await byFile.wrap(key, 'x'), await byCommand.wrap(key, 'x')]
    expect(texts.map((text) => text.split('.')[1])).toEqual([files.key_id, 'kms-1'])
    for (const text of texts) {
      expect(await byFile.unwrap(text, 'x')).toEqual(key)
      expect(await byCommand.unwrap(text, 'x')).toEqual(key)
    }
    await expect(combineKeyrings(null, command, 'command').unwrap(texts[0] as string, 'x')).rejects.toThrow(
      MasterKeyMissing,
    )
    await expect(combineKeyrings(files, null, 'file').unwrap(texts[1] as string, 'x')).rejects.toThrow(MasterKeyMissing)
    expect(combineKeyrings(null, command, 'command').deriveEach('cursor')).toEqual([])
  })

  test('need the one that wraps', () => {
    expect(() => combineKeyrings(files, null, 'command')).toThrow(TypeError)
    expect(() => combineKeyrings(null, command, 'file')).toThrow(TypeError)
  })
})

describe('the example for Vault', () => {
  test('wraps and unwraps with its transit engine', async () => {
    const asked: string[] = []
    const vault = http.createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      asked.push(`${request.method} ${request.url} ${request.headers['x-vault-token']}`)
      const { plaintext, ciphertext } = JSON.parse(body)
      const data = plaintext
        ? { ciphertext: `vault:v1:${plaintext.split('').reverse().join('')}` }
        : { plaintext: ciphertext.replace('vault:v1:', '').split('').reverse().join('') }
      response.end(JSON.stringify({ data }))
    })
    await new Promise<void>((resolve) => vault.listen(0, '127.0.0.1', resolve))
    try {
      const token_file = path.join(path.dirname(service.program), 'behaviour')
      const command = createKeyCommand({
        argv: [process.execPath, path.join(projectRoot, 'deploy/key-command/vault-transit.mjs')],
        key_ids: ['probity'],
        environment: {
          VAULT_ADDR: `http://127.0.0.1:${(vault.address() as AddressInfo).port}`,
          VAULT_TOKEN_FILE: token_file,
        },
        timeout_ms: 60_000,
      })
      expect(await command.unwrap(await command.wrap(key, 'x'), 'x')).toEqual(key)
      const decrypt = 'POST /v1/transit/decrypt/probity work'
      expect(asked).toEqual(['POST /v1/transit/encrypt/probity work', decrypt, decrypt])
    } finally {
      vault.close()
    }
  })
})
