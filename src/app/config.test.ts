import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'
import { parseIssuers } from './issuers.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-config-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const urls = {
  DATABASE_URL: 'postgres://app:x@db/probity',
  WORKER_DATABASE_URL: 'postgres://worker:x@db/probity',
  STEWARD_DATABASE_URL: 'postgresql://steward:x@db/probity',
}
const production = { NODE_ENV: 'production', PROBITY_MASTER_KEY_FILE: '/run/secrets/master' }

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env, parseIssuers)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}

describe('a good environment', () => {
  test('may be empty', () => {
    const config = readConfig({})
    expect(config).toMatchObject({ production: false, port: 8000, host: null, database_urls: null, demo: true })
    expect(Object.isFrozen(config)).toBe(true)
  })

  test('an empty value counts as not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '', PROBITY_DEMO: '' })).toEqual(readConfig({}))
  })

  test('names an external server, where demo tenants are off unless asked for', () => {
    const config = readConfig(urls)
    expect(config.database_urls).toEqual({
      app: urls.DATABASE_URL,
      worker: urls.WORKER_DATABASE_URL,
      steward: urls.STEWARD_DATABASE_URL,
      migrator: null,
    })
    expect(config.demo).toBe(false)
    expect(readConfig({ ...urls, PROBITY_DEMO: 'on' })).toMatchObject({ demo: true, demo_data: true })
    expect(readConfig({ PROBITY_DEMO_DATA: 'off' })).toMatchObject({ demo: true, demo_data: false })
  })

  test('is read as it is meant', () => {
    const config = readConfig({
      PORT: '0',
      PROBITY_DEMO: 'off',
      PROBITY_PREPARED_STATEMENTS: 'off',
      PROBITY_MASTER_KEY_FILE: '/new, /old',
      PROBITY_CORS_ORIGINS: 'https://one.example, https://two.example:8443',
      PROBITY_PUBLIC_URL: 'https://probity.example',
    })
    expect(config).toMatchObject({
      port: 0,
      demo: false,
      prepared_statements: false,
      master_key_files: ['/new', '/old'],
      cors_origins: ['https://one.example', 'https://two.example:8443'],
      public_url: 'https://probity.example',
    })
  })
})

describe('production', () => {
  test('starts with a master key file and without demo tenants', () => {
    expect(readConfig(production)).toMatchObject({ production: true, demo: false, drain_ms: 5000 })
  })

  test.each([
    [{ ...production, PROBITY_DEMO: 'on' }, /PROBITY_DEMO is on with NODE_ENV=production.*PROBITY_DEMO=off/],
    [{ PROBITY_DEMO: 'off', PROBITY_DEMO_DATA: 'on' }, /PROBITY_DEMO_DATA is on but PROBITY_DEMO is off/],
    [{ NODE_ENV: 'production' }, /PROBITY_MASTER_KEY_FILE must name the file/],
    [{ ...production, PROBITY_DEMO_REMOTE: 'on' }, /PROBITY_DEMO_REMOTE is on, but PROBITY_DEMO is off/],
  ])('is refused: %j', (env, sentence) => {
    expect(faultsOf(env)).toEqual([expect.stringMatching(sentence)])
  })
})

describe('a bad value', () => {
  const whole = ['PORT', 'PROBITY_METRICS_PORT', 'PROBITY_POOL_SIZE', 'PROBITY_STATEMENT_TIMEOUT_MS']
  const more = ['PROBITY_WORKER_SLOTS', 'PROBITY_UPLOAD_MAX_BYTES', 'PROBITY_TRUSTED_PROXIES', 'PROBITY_DRAIN_MS']
  const threads = ['PROBITY_HEAVY_THREADS', 'PROBITY_PREVIEW_MAX_ROWS', 'PROBITY_PREVIEW_TIME_LIMIT_MS']
  const badNumbers = ['x', '-1', '1.5', '1e3', ' 8000', '0x50', '99999999999999999']

  test.each([...whole, ...more, ...threads])('%s must be a whole number in its range', (name) => {
    for (const text of badNumbers) {
      expect(faultsOf({ [name]: text }), text).toEqual([
        expect.stringMatching(`^${name} must be a whole number from \\d+ to \\d+\\.$`),
      ])
    }
  })

  test.each(['PROBITY_DEMO', 'PROBITY_DEMO_DATA', 'PROBITY_PREPARED_STATEMENTS'])('%s must be on or off', (name) => {
    expect(faultsOf({ [name]: 'yes' })).toEqual([`${name} must be on or off.`])
  })

  test.each(Object.keys(urls))('%s must be a URL of PostgreSQL', (name) => {
    expect(faultsOf({ ...urls, [name]: 'mysql://x@db/probity' })).toEqual([
      expect.stringMatching(`^${name} must be a URL`),
    ])
  })

  test.each(Object.keys(urls))('%s is missed when another is set', (name) => {
    const { [name]: _, ...others } = urls as Record<string, string>
    expect(faultsOf(others)).toEqual([expect.stringMatching(`^${name} is missing\\. .*roles --print`)])
  })

  test.each([
    ['PROBITY_LOG_LEVEL', 'loud', /PROBITY_LOG_LEVEL must be debug, info, warn, error or silent/],
    ['PROBITY_PUBLIC_URL', 'https://x.example/path', /PROBITY_PUBLIC_URL must be scheme and host/],
    ['PROBITY_PUBLIC_URL', 'x.example', /PROBITY_PUBLIC_URL must be scheme and host/],
    ['PROBITY_CORS_ORIGINS', 'https://x.example/', /PROBITY_CORS_ORIGINS: https:\/\/x\.example\/ is not an origin/],
    ['PROBITY_CORS_ORIGINS', '*', /PROBITY_CORS_ORIGINS: \* is not an origin/],
    ['PROBITY_ISSUERS_FILE', '/nowhere/issuers.json', /PROBITY_ISSUERS_FILE \(\/nowhere\/issuers\.json\): ENOENT/],
  ])('%s=%s', (name, value, sentence) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(sentence)])
  })

  const issuer = { issuer: 'https://id.example', audience: 'probity', tenants: [crypto.randomUUID()], role_map: {} }
  test.each([
    ['not JSON', '{', /PROBITY_ISSUERS_FILE .*JSON/],
    ['another shape', JSON.stringify({ issuers: [{}] }), /PROBITY_ISSUERS_FILE .*is not a valid issuers file/],
    ['no keys named', JSON.stringify({ issuers: [issuer] }), /id\.example needs either jwks_url or "oidc": true/],
  ])('an issuers file: %s', (name, text, sentence) => {
    const file = path.join(folder, `${name}.json`)
    fs.writeFileSync(file, text)
    expect(faultsOf({ PROBITY_ISSUERS_FILE: file })).toEqual([expect.stringMatching(sentence)])
  })

  test('all faults are reported at once, none of them with a password', () => {
    const env = { ...urls, DATABASE_URL: 'secret-password', PORT: 'x', PROBITY_DEMO: 'maybe' }
    const faults = faultsOf(env)
    expect(faults).toHaveLength(3)
    expect(new ConfigError(faults).message).not.toContain('secret-password')
  })
})
