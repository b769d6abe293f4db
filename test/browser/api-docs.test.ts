/** The console and the API documentation page in a real browser: no external requests, no errors, working requests. */
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiDocument, listOperations, type Operation } from '../support/api-document.ts'
import { checkBrowser, getBrowser } from '../support/browser.ts'
import { buildConsole } from '../support/console-build.ts'
import { announceSampling, sample } from '../support/sampling.ts'
import { startTestApp } from '../support/test-app.ts'
import { closeSharedContext, DESKTOP, getOverflow, openPage, PHONE, takeScreenshot } from './page-session.ts'

const availability = await checkBrowser()
if (!availability.ok) console.warn(`The tests of pages in a browser are skipped: ${availability.reason}`)
const inBrowser = test.skipIf(!availability.ok)

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
let tenant: { readonly tenant_id: string; readonly name: string }

beforeAll(async () => {
  if (!availability.ok) return
  buildConsole()
  w = await startTestApp({ public_url: null })
  base = await w.listen()
  token = await w.token({ roles: ['viewer'] })
  tenant = (await w.call('GET /tenant', { token })).json
  browser = await getBrowser()
})
afterAll(async () => {
  await closeSharedContext(base)
  await w?.close()
})

const visit = async (place: string) => {
  const { page, seen, close } = await openPage(browser, base, place)
  return { page, seen, close, docs: page.frameLocator('iframe') }
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

/** The operation that every token may call. */
const CALLER = 'getMe'

async function readDocument() {
  const document = (await (await fetch(`${base}/api/openapi.json`)).json()) as ApiDocument
  return { tags: document.tags, operations: listOperations(document).map(({ operation }) => operation) }
}

/** Opens GET /api/auth/me as a reader would: its group in the side bar, its entry, the button below its example. */
async function openCaller(docs: FrameLocator) {
  const { operations, tags } = await readDocument()
  const {
    summary,
    tags: [tag],
  } = operations.find(({ operationId }) => operationId === CALLER) as Operation
  const group = tags.find(({ name }) => name === tag)?.['x-displayName'] as string
  const sidebar = docs.getByRole('navigation').first()
  const entry = sidebar.getByText(summary, { exact: true })
  await sidebar.getByText(group, { exact: true }).first().waitFor()
  if (!(await entry.isVisible())) await sidebar.getByText(group, { exact: true }).first().click()
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
/** The document with these operations only: rendering all of them takes seconds. */
async function serveOperations(page: Page, ids: readonly string[]): Promise<void> {
  await page.route(`${base}/api/openapi.json`, async (route) => {
    const response = await route.fetch()
    const document = (await response.json()) as ApiDocument
    const paths = Object.entries(document.paths)
      .map(([path, operations]) => {
        const kept = Object.entries(operations).filter(([, { operationId }]) => ids.includes(operationId))
        return [path, Object.fromEntries(kept)] as const
      })
      .filter(([, operations]) => Object.keys(operations).length > 0)
    await route.fulfill({ response, json: { ...document, paths: Object.fromEntries(paths) } })
  })
}
const ownField = (docs: FrameLocator) => docs.getByPlaceholder('Token').filter({ visible: true }).first()

inBrowser('serves the page for any accept header, and 404 for other paths', async () => {
  const reply = await fetch(`${base}/api-docs`, { headers: { accept: '*/*' } })
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  const other = await fetch(`${base}/api-doc`, { headers: { accept: '*/*' } })
  expect([other.status, other.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
})

inBrowser(
  'the home page offers sign-in and the API documents; links change the page without reloading it',
  async () => {
    const { page, seen, close } = await visit('/')
    await page.getByRole('region', { name: 'Sign in' }).waitFor()
    await expect
      .poll(() => page.getByRole('link', { name: 'OpenAPI document' }).getAttribute('href'))
      .toBe('/api/openapi.json')
    for (const [viewport, colorScheme] of [
      [DESKTOP, 'dark'],
      [PHONE, 'dark'],
      [PHONE, 'light'],
      [DESKTOP, 'light'],
    ] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      await expect.poll(() => getOverflow(page)).toBe(0)
      await shot(page, `home-${viewport.width}-${colorScheme}`)
    }
    await page.evaluate('window.isSameDocument = true')
    await page.getByRole('navigation').getByRole('link', { name: 'API documentation' }).click()
    await page.getByTitle('API documentation').waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/api-docs')
    await expect.poll(() => page.title()).toBe('API documentation · Probity')
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Decisions you can prove' }).waitFor()
    await expect.poll(() => page.evaluate('window.isSameDocument')).toBe(true)
    expect(seen).toEqual(nothing)
    await close()
  },
)

inBrowser('a malformed token, one cut short and an unknown API key are refused with the reason', async () => {
  const { page, close } = await visit('/')
  for (const [text, reason] of [
    ['abc', 'three parts'],
    ['eyJhbGciOiJFUzI1NiJ9.eyJzdWIi.c2ln', 'cannot be read'],
    ['pk_unknown', 'is not valid'],
  ] as const) {
    await useToken(page, text)
    await tokenState(page).getByText(reason).waitFor()
    await expect.poll(() => box(page).getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => page.evaluate('sessionStorage.length')).toBe(0)
  }
  await close()
})

announceSampling('operations on the documentation page, one of each group and others')

// The documentation takes seconds to render: each page of it is opened once and used for several questions.
inBrowser('the documentation page needs no other page and lists its groups in order', async () => {
  const { page, seen, close } = await visit('/favicon.svg')
  const { operations, tags } = await readDocument()
  const firstOfGroups = tags.map(({ name }) => operations.find((operation) => operation.tags[0] === name))
  const others = sample(operations, Math.ceil(operations.length / 12), 'documentation page')
  await serveOperations(
    page,
    [...firstOfGroups, ...others].map((operation) => operation?.operationId ?? ''),
  )
  await page.goto(`${base}/api/docs`)
  const titles = tags.map((tag) => tag['x-displayName'])
  const sidebar = page.getByRole('navigation').first()
  for (const title of titles) await sidebar.getByText(title, { exact: true }).first().waitFor()
  const shown = await sidebar.innerText()
  expect(titles.toSorted((a, b) => shown.indexOf(a) - shown.indexOf(b))).toEqual(titles)
  await shot(page, 'docs-alone')
  expect(seen).toEqual(nothing)
  await close()
})

inBrowser('/api-docs sends the newest token, names its tenant, keeps it after a reload and removes it', async () => {
  const { page, seen, docs, close } = await visit('/favicon.svg')
  await serveOperations(page, [CALLER])
  await page.goto(`${base}/api-docs`)
  await docs.locator('body.light-mode').waitFor()
  await ownField(docs).fill('typed.by.hand')
  await expectCompressed(page)
  await openCaller(docs)
  expect((await send(page, docs)).status()).toBe(401)
  await useToken(page, `Bearer ${token}`)
  await expect
    .poll(() => tokenState(page).textContent())
    .toMatch(new RegExp(`^Tenant ${tenant.name} · role viewer · expires `))
  const answer = await send(page, docs)
  expect([answer.status(), await answer.text()]).toEqual([200, expect.stringContaining(tenant.tenant_id)])
  await docs.getByText('200 OK').waitFor()
  await docs.getByText(tenant.tenant_id).first().waitFor()
  await shot(page, 'api-docs-answer')
  await page.getByRole('button', { name: 'Use dark colours' }).click()
  await docs.locator('body.dark-mode').waitFor()

  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.reload()
  await tokenState(page).getByText(tenant.name).waitFor()
  await docs.locator('body.dark-mode').waitFor()
  await expect.poll(() => ownField(docs).inputValue()).toBe(token)
  await shot(page, 'api-docs-phone-dark')
  await page.getByRole('button', { name: 'Remove token' }).click()
  await tokenState(page).getByText('No token in use').waitFor()
  await expect.poll(() => ownField(docs).inputValue()).toBe('')
  await expect.poll(() => page.evaluate('sessionStorage.length + document.cookie.length')).toBe(0)
  expect(seen).toEqual({ ...nothing, failed: ['401 /api/auth/me'] })
  await close()
})
