/** The console's files and the documentation's script as the server sends them: compressed as requested, complete, and with correct cache headers. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import zlib from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installAssets } from '#app/assets.ts'
import { projectRoot } from '../support/database.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const ORIGIN = 'https://console.example'
const SCRIPT = '/api/docs/scalar.js'
const decoders = { br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync, identity: (bytes: Buffer) => bytes }
const codings = ['br', 'gzip', 'identity'] as const

let w: TestApp
/** Address and file of everything that is compressed. */
let texts: { url: string; file: string }[]
let script: string

beforeAll(async () => {
  execFileSync(process.execPath, ['scripts/build.mjs', 'console', 'docs'], { cwd: projectRoot, stdio: 'pipe' })
  w = await startTestApp({ cors_origins: [ORIGIN] })
  const folder = path.join(projectRoot, 'dist/console')
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  const console_texts = names.filter((name) => /\.(html|js|css|svg)$/.test(name))
  texts = [
    ...console_texts.map((name) => ({ url: `/${name}`, file: path.join(folder, name) })),
    { url: SCRIPT, file: path.join(projectRoot, 'dist/docs/scalar.js') },
  ]
  script = `/${console_texts.find((name) => /^assets\/index-.*\.js$/.test(name))}`
}, 120_000)
afterAll(() => w?.close())

const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  w.server.app.inject({ method, url, headers })

describe('a static text file', () => {
  test('is smaller when compressed and identical when decoded', async () => {
    expect(texts.length).toBeGreaterThan(100)
    for (const { url, file } of texts) {
      const plain = fs.readFileSync(file)
      const tags = new Map<string, unknown>()
      const types = new Set<unknown>()
      for (const coding of codings) {
        const { statusCode, headers, rawPayload } = await get(url, { 'accept-encoding': coding })
        const sent = (headers['content-encoding'] ?? 'identity') as keyof typeof decoders
        // A text of a few bytes has no smaller form and comes as it is.
        if (plain.length > 1000) expect(sent, url).toBe(coding)
        if (sent !== 'identity') expect(rawPayload.length, url).toBeLessThan(plain.length)
        expect([statusCode, headers['content-length'], headers['vary']], url).toEqual([
          200,
          String(rawPayload.length),
          'accept-encoding',
        ])
        expect(decoders[sent](rawPayload).equals(plain), `${url} as ${coding}`).toBe(true)
        tags.set(sent, headers['etag'])
        types.add(headers['content-type'])
      }
      expect(new Set(tags.values()).size, url).toBe(tags.size)
      expect([...types], url).toHaveLength(1)
      expect([...types][0]).toMatch(/^(text\/(html|javascript|css); charset=utf-8|image\/svg\+xml)$/)
    }
  })

  test('is not served under the name of its compressed form', async () => {
    for (const form of ['.br', '.gz']) {
      expect((await get(`/index.html${form}`)).statusCode).toBe(404)
      expect((await get(script + form)).statusCode).toBe(404)
    }
  })
})

describe('content coding', () => {
  test.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.1, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['identity;q=0, gzip', 'gzip'],
    ['zstd', undefined],
  ])('for %j is %s, for the page, a deep link and the scripts', async (accepted, coding) => {
    const headers = { accept: 'text/html', ...(accepted !== undefined && { 'accept-encoding': accepted }) }
    for (const url of ['/', '/users?state=invited', '/api-docs', script, SCRIPT]) {
      const reply = await get(url, headers)
      expect([reply.statusCode, reply.headers['content-encoding']], url).toEqual([200, coding])
    }
  })

  test.each(['identity;q=0', '*;q=0'])(
    'that is wanted with %s is none: a problem that can be read',
    async (accepted) => {
      for (const url of ['/', script, SCRIPT]) {
        const { statusCode, headers, body } = await get(url, { 'accept-encoding': accepted })
        expect([statusCode, JSON.parse(body).code]).toEqual([406, 'not_acceptable'])
        expect(headers['content-encoding']).toBeUndefined()
      }
    },
  )

  test('is not applied to answers of the API', async () => {
    for (const url of ['/api/openapi.json', '/api/docs', '/api/health', '/api/users']) {
      const { headers } = await get(url, { 'accept-encoding': 'br, gzip' })
      expect([headers['content-encoding'], headers['vary']], url).toEqual([undefined, undefined])
    }
  })

  test('is in Vary beside the origin', async () => {
    const { headers } = await get('/', { origin: ORIGIN, 'accept-encoding': 'br' })
    expect([headers['vary'], headers['content-encoding']]).toEqual(['origin, accept-encoding', 'br'])
  })
})

describe('caching by browsers', () => {
  test('returns 304 only for the ETag of the same coding', async () => {
    for (const url of ['/', script, SCRIPT]) {
      const asked = { 'accept-encoding': 'br' }
      const tag = (await get(url, asked)).headers['etag'] as string
      const other = (await get(url)).headers['etag'] as string
      const kept = await get(url, { ...asked, 'if-none-match': tag })
      expect([kept.statusCode, kept.body, kept.headers['etag']]).toEqual([304, '', tag])
      expect(kept.headers['vary']).toBe('accept-encoding')
      for (const name of ['content-encoding', 'content-type', 'content-length'])
        expect(kept.headers[name]).toBeUndefined()
      expect((await get(url, { ...asked, 'if-none-match': other })).statusCode).toBe(200)
      expect((await get(url, { 'if-none-match': other })).statusCode).toBe(304)
    }
  })

  test('HEAD returns the headers of GET and no body', async () => {
    for (const url of ['/', script]) {
      const asked = { 'accept-encoding': 'gzip' }
      const [got, head] = [await get(url, asked), await get(url, asked, 'HEAD')]
      expect([head.statusCode, head.body]).toEqual([200, ''])
      for (const name of ['content-length', 'content-encoding', 'content-type', 'etag', 'vary', 'cache-control'])
        expect(head.headers[name], name).toBe(got.headers[name])
    }
  })

  test('has a Cache-Control that fits the file name, in any coding', async () => {
    for (const coding of codings) {
      const lifeOf = async (url: string) => (await get(url, { 'accept-encoding': coding })).headers['cache-control']
      expect(await lifeOf(script)).toBe('public, max-age=31536000, immutable')
      expect(await lifeOf('/')).toBe('no-cache')
      expect(await lifeOf('/favicon.svg')).toBe('no-cache')
      expect(await lifeOf(SCRIPT)).toBe('public, max-age=3600')
    }
  })
})

test('the page is isolated from other windows in any coding', async () => {
  for (const url of ['/', '/index.html', '/api-docs']) {
    for (const coding of codings) {
      const { headers } = await get(url, { 'accept-encoding': coding })
      expect(headers['cross-origin-opener-policy']).toBe('same-origin')
      expect(headers['content-security-policy']).toContain("script-src 'self'")
    }
  }
})

describe('a folder of a different build', () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-assets-'))
  afterAll(() => fs.rmSync(root, { recursive: true, force: true }))
  const write = (project: string, name: string, text: string) => {
    const file = path.join(root, project, 'dist', name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
  }
  const serve = async (project: string) => {
    const app = Fastify()
    await installAssets(app, path.join(root, project))
    return app
  }

  test('without compressed files is served uncompressed', async () => {
    write('assets/probity', 'console/index.html', '<p>page</p>')
    write('assets/probity', 'console/assets/a.js', 'one()')
    const app = await serve('assets/probity')
    const asked = { 'accept-encoding': 'br, gzip' }
    const page = await app.inject({ url: '/', headers: asked })
    expect([page.body, page.headers['content-encoding'], page.headers['cache-control']]).toEqual([
      '<p>page</p>',
      undefined,
      'no-cache',
    ])
    expect((await app.inject({ url: '/assets/a.js', headers: asked })).body).toBe('one()')
    await app.close()
  })

  test('may lose a file while the server runs', async () => {
    write('shrinking', 'console/index.html', '<p>page</p>')
    write('shrinking', 'console/assets/a.js', 'one()')
    const app = await serve('shrinking')
    fs.rmSync(path.join(root, 'shrinking/dist/console/assets/a.js'))
    for (const accepted of ['br', 'identity;q=0']) {
      const { statusCode, headers } = await app.inject({
        url: '/assets/a.js',
        headers: { 'accept-encoding': accepted },
      })
      expect([statusCode, headers['content-encoding'], headers['cache-control']]).toEqual([404, undefined, undefined])
    }
    await app.close()
  })
})
