/** The console and the API documentation page in a real browser: no external requests, no errors, working requests. */
import type { Browser, BrowserContextOptions, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkBrowser, getBrowser, trackOutsideRequests } from '../support/browser.ts'
import { buildConsole } from '../support/console-build.ts'
import { startTestApp } from '../support/test-app.ts'
import { takeScreenshot } from './page-session.ts'

const wide = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }

const availability = await checkBrowser()
if (!availability.ok) console.warn(`The tests of pages in a browser are skipped: ${availability.reason}`)
const inBrowser = test.skipIf(!availability.ok)

interface OpenApiDocument {
  readonly paths: { readonly '/api/auth/me': { readonly get: { readonly summary: string; readonly tags: [string] } } }
}

/** A resource timing entry of the browser. */
interface Loaded {
  readonly name: string
  readonly encodedBodySize: number
  readonly decodedBodySize: number
}

let w: Awaited<ReturnType<typeof startTestApp>>
let browser: Browser
let base: string
let token: string

beforeAll(async () => {
  if (!availability.ok) return
  buildConsole()
  w = await startTestApp()
  base = await w.listen()
  token = await w.token({ roles: ['viewer'] })
  browser = await getBrowser()
}, 120_000)
afterAll(async () => {
  await w?.close()
})

/** A fresh page that records external requests, console errors and failed responses. */
async function visit(url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: wide, ...options })
  const page = await context.newPage()
  const seen = { outside: trackOutsideRequests(page, base), errors: [] as string[], failed: [] as string[] }
  page.on('console', (message) => message.type() === 'error' && seen.errors.push(message.text()))
  page.on('pageerror', (error) => seen.errors.push(String(error)))
  page.on('response', (answer) => answer.status() >= 400 && seen.failed.push(`${answer.status()} ${answer.url()}`))
  await page.goto(`${base}${url}`)
  return { page, seen, docs: page.frameLocator('iframe'), close: () => context.close() }
}
const nothing = { outside: [], errors: [], failed: [] }
const shot = takeScreenshot

const box = (page: Page) => page.getByLabel('Token or API key')
const tokenState = (page: Page) => page.locator('.token-box').getByRole('status')
async function useToken(page: Page, text: string) {
  await box(page).fill(text)
  await page.getByRole('button', { name: 'Use token' }).click()
}

/** Asserts that every large file of the page and its frames was compressed. */
async function expectCompressed(page: Page): Promise<void> {
  const loaded = await Promise.all(
    page
      .frames()
      .map((frame) =>
        frame.evaluate(() =>
          (performance.getEntriesByType('resource') as unknown as Loaded[]).map(
            ({ name, encodedBodySize, decodedBodySize }) => ({ name, encodedBodySize, decodedBodySize }),
          ),
        ),
      ),
  )
  const large = loaded
    .flat()
    .filter(({ name, decodedBodySize }) => /\.(js|css)$/.test(name) && decodedBodySize > 10_000)
  expect(large.map(({ name }) => name)).toContain(`${base}/api/docs/scalar.js`)
  expect(large.length).toBeGreaterThan(3)
  for (const { name, encodedBodySize, decodedBodySize } of large) {
    expect(encodedBodySize / decodedBodySize, name).toBeLessThan(0.5)
  }
}

async function callerOperation() {
  const document = (await (await fetch(`${base}/api/openapi.json`)).json()) as OpenApiDocument
  return document.paths['/api/auth/me'].get
}

/** Opens GET /api/auth/me as a reader would: its group in the side bar, its entry, the button below its example. */
async function openCaller(docs: FrameLocator) {
  const { summary, tags } = await callerOperation()
  const sidebar = docs.getByRole('navigation').first()
  const entry = sidebar.getByText(summary, { exact: true })
  await sidebar.getByText(tags[0], { exact: true }).first().waitFor()
  if (!(await entry.isVisible())) await sidebar.getByText(tags[0], { exact: true }).first().click()
  await entry.click()
  await docs.getByRole('button', { name: /Test Request.*\/api\/auth\/me\b/i }).click()
}
async function send(page: Page, docs: FrameLocator) {
  const [answer] = await Promise.all([
    page.waitForResponse((answer) => answer.url() === `${base}/api/auth/me`),
    docs.getByRole('button', { name: /^send get request/i }).click(),
  ])
  return answer
}
const ownField = (docs: FrameLocator) => docs.getByPlaceholder('Token').filter({ visible: true }).first()

inBrowser('serves the page for any accept header, and 404 for other paths', async () => {
  const reply = await fetch(`${base}/api-docs`, { headers: { accept: '*/*' } })
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  const other = await fetch(`${base}/api-doc`, { headers: { accept: '*/*' } })
  expect([other.status, other.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
})

inBrowser.each([
  ['light', wide, 'home-light'],
  ['dark', wide, 'home-dark'],
  ['light', phone, 'home-phone-light'],
  ['dark', phone, 'home-phone-dark'],
] as const)('the home page offers sign-in and the API documents (%s, %o)', async (colorScheme, viewport, name) => {
  const { page, seen, close } = await visit('/', { colorScheme, viewport })
  await page.getByRole('region', { name: 'Sign in' }).waitFor()
  expect(await page.getByRole('link', { name: 'OpenAPI document' }).getAttribute('href')).toBe('/api/openapi.json')
  await shot(page, name)
  const widths = await page.evaluate('[document.documentElement.scrollWidth, window.innerWidth]')
  expect(widths).toEqual([viewport.width, viewport.width])
  expect(seen).toEqual(nothing)
  await close()
})

inBrowser('links and the back button change the page without reloading it', async () => {
  const { page, seen, close } = await visit('/')
  await page.evaluate('window.isSameDocument = true')
  await page.getByRole('navigation').getByRole('link', { name: 'API documentation' }).click()
  await page.getByTitle('API documentation').waitFor()
  expect(new URL(page.url()).pathname).toBe('/api-docs')
  expect(await page.title()).toBe('API documentation · Probity')
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Decisions you can prove' }).waitFor()
  expect(await page.evaluate('window.isSameDocument')).toBe(true)
  expect(seen).toEqual(nothing)
  await close()
})

inBrowser('the documentation page stands alone', async () => {
  const { page, seen, close } = await visit('/api/docs')
  const { tags } = await callerOperation()
  await page.getByRole('navigation').first().getByText(tags[0], { exact: true }).first().waitFor()
  await page.waitForLoadState('networkidle')
  await shot(page, 'docs-alone')
  expect(seen).toEqual(nothing)
  await close()
})

// The documentation takes seconds to render: each page of it is opened once and used for several questions.
inBrowser.each([
  ['light', wide, 'api-docs-light'],
  ['dark', phone, 'api-docs-phone-dark'],
] as const)('/api-docs embeds it in the colours of the console (%s, %o)', async (colorScheme, viewport, name) => {
  const { page, seen, docs, close } = await visit('/api-docs', { colorScheme, viewport })
  await docs.getByRole('heading', { level: 1 }).first().waitFor()
  await docs.locator(`body.${colorScheme}-mode`).waitFor()
  await expectCompressed(page)
  await useToken(page, token)
  await shot(page, name)
  await page.getByRole('button', { name: /^Use (light|dark) colours$/ }).click()
  await docs.locator(`body.${colorScheme === 'light' ? 'dark' : 'light'}-mode`).waitFor()
  expect(seen).toEqual(nothing)
  await close()
})

inBrowser('a request sent from the page carries the token and returns data of its tenant', async () => {
  const { page, seen, docs, close } = await visit('/api-docs')
  await box(page).fill(token)
  await box(page).press('Enter')
  await openCaller(docs)
  const answer = await send(page, docs)
  const { tenant_id } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  expect(answer.status()).toBe(200)
  expect(await answer.text()).toContain(tenant_id)
  await docs.getByText('200 OK').waitFor()
  await docs.getByText(tenant_id).first().waitFor()
  expect(await tokenState(page).textContent()).toMatch(new RegExp(`^Tenant ${tenant_id} · role viewer · expires `))
  await shot(page, 'api-docs-answer')
  expect(seen).toEqual(nothing)
  await close()
})

inBrowser('sends the newest token, keeps it after a reload, and removes it on request', async () => {
  const { page, docs, close } = await visit('/api-docs')
  await ownField(docs).fill('typed.by.hand')
  await openCaller(docs)
  expect((await send(page, docs)).status()).toBe(401)
  await useToken(page, `Bearer ${token}`)
  await tokenState(page).getByText('role viewer').waitFor()
  expect((await send(page, docs)).status()).toBe(200)
  await page.reload()
  await tokenState(page).getByText('role viewer').waitFor()
  await ownField(docs).waitFor()
  await expect.poll(() => ownField(docs).inputValue()).toBe(token)
  await page.getByRole('button', { name: 'Remove token' }).click()
  await tokenState(page).getByText('No token in use').waitFor()
  await expect.poll(() => ownField(docs).inputValue()).toBe('')
  expect(await page.evaluate('sessionStorage.length + document.cookie.length')).toBe(0)
  await close()
})

inBrowser.each([
  ['a malformed token', 'abc', 'three parts'],
  ['a token cut short', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIi.c2ln', 'cannot be read'],
  ['an unknown API key', 'pk_unknown', 'is not valid'],
])('%s is refused with the reason', async (_name, text, reason) => {
  const { page, close } = await visit('/')
  await useToken(page, text)
  await tokenState(page).getByText(reason).waitFor()
  expect(await box(page).getAttribute('aria-invalid')).toBe('true')
  expect(await page.evaluate('sessionStorage.length')).toBe(0)
  await close()
})
