import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createCertificate } from '#test/support/certificates.ts'
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

  test('names a key command, which wraps unless files do, and which gets no database password', () => {
    const config = readConfig({
      ...urls,
      NODE_ENV: 'production',
      AWS_REGION: 'eu-central-1',
      PROBITY_KEY_COMMAND: '["/opt/kms command", "--json"]',
      PROBITY_KEY_COMMAND_ID: 'kms-2, kms-1',
    })
    expect(config.key_command).toMatchObject({
      argv: ['/opt/kms command', '--json'],
      key_ids: ['kms-2', 'kms-1'],
      wraps: true,
    })
    expect(config.key_command?.environment).toMatchObject({ AWS_REGION: 'eu-central-1' })
    expect(Object.keys(config.key_command?.environment ?? {}).filter((name) => name.includes('DATABASE'))).toEqual([])
    const both = { PROBITY_KEY_COMMAND: '/opt/kms', PROBITY_MASTER_KEY_FILE: '/old' }
    expect(readConfig(both).key_command).toMatchObject({ argv: ['/opt/kms'], key_ids: ['command'], wraps: true })
    expect(readConfig({ ...both, PROBITY_MASTER_KEY_SOURCE: 'file' }).key_command?.wraps).toBe(false)
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
    [{ PROBITY_KEY_COMMAND: 'kms --wrap' }, /PROBITY_KEY_COMMAND must be the absolute path/],
    [{ PROBITY_KEY_COMMAND: '["/kms", 1]' }, /PROBITY_KEY_COMMAND must be the absolute path/],
    [{ PROBITY_KEY_COMMAND: '["/kms"' }, /PROBITY_KEY_COMMAND must be the absolute path/],
    [{ PROBITY_KEY_COMMAND: '/kms', PROBITY_KEY_COMMAND_ID: '0123abcd' }, /PROBITY_KEY_COMMAND_ID must be names/],
    [{ PROBITY_KEY_COMMAND: '/kms', PROBITY_KEY_COMMAND_ID: 'a, a' }, /PROBITY_KEY_COMMAND_ID must be names/],
    [{ PROBITY_KEY_COMMAND: '/kms', PROBITY_KEY_COMMAND_ID: 'a.b' }, /PROBITY_KEY_COMMAND_ID must be names/],
    [{ PROBITY_MASTER_KEY_SOURCE: 'vault' }, /PROBITY_MASTER_KEY_SOURCE must be file or command/],
    [{ PROBITY_MASTER_KEY_SOURCE: 'command' }, /but PROBITY_KEY_COMMAND is not set/],
    [{ PROBITY_KEY_COMMAND: '/kms', PROBITY_MASTER_KEY_SOURCE: 'file' }, /PROBITY_MASTER_KEY_FILE names no file/],
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

  test('outbound requests: hosts, private hosts, a proxy and an exempt address are read', () => {
    const authority = createCertificate({ common_name: 'Test authority', is_authority: true })
    const file = path.join(folder, 'ca.pem')
    fs.writeFileSync(file, `Some text before\n${authority.cert}${authority.cert}`)
    const { egress } = readConfig({
      PROBITY_EGRESS_HOSTS: 'API.acme.example, *.registry.example',
      PROBITY_EGRESS_PRIVATE: `Registry.internal:8443=${file}, [fd00::1]:443, 10.0.0.1:9443`,
      PROBITY_EGRESS_PROXY: 'http://us%40er:p%3Aw@[fd00::2]:3128',
      PROBITY_EGRESS_EXEMPT: '127.0.0.1:18443',
    })
    expect(egress).toEqual({
      hosts: ['api.acme.example', '*.registry.example'],
      private_hosts: [
        { name: 'registry.internal', port: 8443, ca: fs.readFileSync(file, 'utf8') },
        { name: 'fd00::1', port: 443, ca: null },
        { name: '10.0.0.1', port: 9443, ca: null },
      ],
      proxy: { host: 'fd00::2', port: 3128, secure: false, authorization: `Basic ${btoa('us@er:p:w')}` },
      exempt: { address: '127.0.0.1', port: 18_443 },
    })
    const secure = readConfig({ PROBITY_EGRESS_PROXY: 'https://proxy.internal', PROBITY_EGRESS_HOSTS: 'a.example' })
    expect(secure.egress.proxy).toEqual({ host: 'proxy.internal', port: 443, secure: true, authorization: null })
    expect(readConfig({}).egress).toEqual({ hosts: null, private_hosts: [], proxy: null, exempt: null })
  })

  test('plugins: hosts, publishers and the folder are read, and each bad value is named', () => {
    const key = Buffer.alloc(32, 7).toString('base64')
    const { plugins } = readConfig({
      PROBITY_PLUGIN_HOSTS: 'API.acme.example, *.registry.example',
      PROBITY_PLUGIN_PUBLISHERS: `acme=${key}`,
      PROBITY_PLUGIN_REQUIRE_SIGNED: 'on',
      PROBITY_PLUGINS_DIR: folder,
    })
    expect(plugins).toEqual({
      policy: {
        hosts: ['api.acme.example', '*.registry.example'],
        publishers: new Map([['acme', key]]),
        requires_signature: true,
      },
      folder,
    })
    const nothing = { hosts: [], publishers: new Map(), requires_signature: false }
    expect(readConfig({}).plugins).toEqual({ policy: nothing, folder: null })
    const cases: readonly [env: Record<string, string>, sentence: RegExp][] = [
      [{ PROBITY_PLUGIN_HOSTS: 'https://a.example' }, /^PROBITY_PLUGIN_HOSTS: https:\/\/a\.example is not a name/],
      [{ PROBITY_PLUGIN_HOSTS: 'localhost' }, /^PROBITY_PLUGIN_HOSTS: localhost is not a name/],
      [{ PROBITY_PLUGIN_PUBLISHERS: key }, /^PROBITY_PLUGIN_PUBLISHERS: .* is not name=key/],
      [{ PROBITY_PLUGIN_PUBLISHERS: 'acme=c2hvcnQ=' }, /is not name=key with the 32 bytes/],
      [{ PROBITY_PLUGIN_REQUIRE_SIGNED: 'on' }, /PROBITY_PLUGIN_PUBLISHERS names no publisher/],
      [{ PROBITY_PLUGINS_DIR: '/nowhere' }, /^PROBITY_PLUGINS_DIR \(\/nowhere\) is not a folder/],
    ]
    for (const [env, sentence] of cases) expect(faultsOf(env)).toEqual([expect.stringMatching(sentence)])
  })

  test('outbound requests: each bad value is named with what would be right', () => {
    const notPem = path.join(folder, 'not.pem')
    fs.writeFileSync(notPem, 'nothing')
    const broken = path.join(folder, 'broken.pem')
    fs.writeFileSync(broken, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
    const hosts = { PROBITY_EGRESS_HOSTS: 'a.example' }
    const cases: readonly [env: Record<string, string>, sentence: RegExp][] = [
      [{ PROBITY_EGRESS_HOSTS: 'https://a.example' }, /^PROBITY_EGRESS_HOSTS: https:\/\/a\.example is not a name/],
      [{ PROBITY_EGRESS_HOSTS: '*' }, /^PROBITY_EGRESS_HOSTS: \* is not a name/],
      [{ PROBITY_EGRESS_HOSTS: 'a.example:443' }, /is not a name/],
      [{ PROBITY_EGRESS_PRIVATE: 'registry.internal' }, /^PROBITY_EGRESS_PRIVATE: registry\.internal is not name:port/],
      [{ PROBITY_EGRESS_PRIVATE: 'registry.internal:0' }, /is not name:port/],
      [{ PROBITY_EGRESS_PRIVATE: 'registry.internal:70000' }, /is not name:port/],
      [{ PROBITY_EGRESS_PRIVATE: '169.254.169.254:443' }, /has an address that no request may be sent to/],
      [{ PROBITY_EGRESS_PRIVATE: '[fd00:ec2::254]:443' }, /has an address that no request may be sent to/],
      [{ PROBITY_EGRESS_PRIVATE: 'a.internal:443=/nowhere.pem' }, /^PROBITY_EGRESS_PRIVATE \(\/nowhere\.pem\): ENOENT/],
      [{ PROBITY_EGRESS_PRIVATE: `a.internal:443=${notPem}` }, /holds no certificate in PEM format/],
      [{ PROBITY_EGRESS_PRIVATE: `a.internal:443=${broken}` }, /^PROBITY_EGRESS_PRIVATE \(.*broken\.pem\): /],
      [{ ...hosts, PROBITY_EGRESS_PROXY: 'proxy:3128' }, /^PROBITY_EGRESS_PROXY must be a URL/],
      [{ ...hosts, PROBITY_EGRESS_PROXY: 'socks5://secret:secret@proxy:1080' }, /^PROBITY_EGRESS_PROXY must be a URL/],
      [{ ...hosts, PROBITY_EGRESS_PROXY: 'http://secret:secret@proxy/path' }, /^PROBITY_EGRESS_PROXY must be a URL/],
      [{ PROBITY_EGRESS_PROXY: 'http://secret:secret@proxy:3128' }, /PROBITY_EGRESS_HOSTS is not: .*List the hosts/],
      [{ PROBITY_EGRESS_EXEMPT: 'localhost:443' }, /^PROBITY_EGRESS_EXEMPT must be one address and port/],
      [{ PROBITY_EGRESS_EXEMPT: '127.0.0.1' }, /^PROBITY_EGRESS_EXEMPT must be one address and port/],
      [
        { ...production, PROBITY_EGRESS_EXEMPT: '127.0.0.1:18443' },
        /^PROBITY_EGRESS_EXEMPT is set with NODE_ENV=production/,
      ],
    ]
    for (const [env, sentence] of cases) {
      const faults = faultsOf(env)
      expect(faults, JSON.stringify(env)).toEqual([expect.stringMatching(sentence)])
      expect(faults.join()).not.toContain('secret')
    }
  })

  test('all faults are reported at once, none of them with a password', () => {
    const env = { ...urls, DATABASE_URL: 'secret-password', PORT: 'x', PROBITY_DEMO: 'maybe' }
    const faults = faultsOf(env)
    expect(faults).toHaveLength(3)
    expect(new ConfigError(faults).message).not.toContain('secret-password')
  })
})
