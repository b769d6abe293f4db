/** A browser page that records external requests, console errors and failed responses. */
import fs from 'node:fs'
import path from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { trackOutsideRequests } from '../support/browser.ts'
import { projectRoot } from '../support/database.ts'

export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 390, height: 844 }
const screenshotDir = path.join(projectRoot, 'test/out')

export interface PageProblems {
  readonly outside: string[]
  readonly errors: string[]
  /** Answers of status 400 and above, as `404 /api/users/…`. */
  readonly failed: string[]
}

/** Sets the token of the tab before its first page loads; a tab that signed out stays signed out. */
const signInOnce = (token: string): string => `
  if (location.origin !== 'null' && sessionStorage.getItem('test.signed-in') === null) {
    sessionStorage.setItem('test.signed-in', 'yes')
    sessionStorage.setItem('probity.token', ${JSON.stringify(token)})
  }`

/** A placeholder that pulses while a page loads is drawn sixty times a second: half of what drawing takes. */
const STOP_ANIMATIONS = `{
  const still = new CSSStyleSheet()
  still.replaceSync('*, ::before, ::after { animation: none !important }')
  document.adoptedStyleSheets = [still]
}`

const sharedContexts = new Map<string, Promise<BrowserContext>>()

/** One context for all pages of a server: sessions are kept per tab. A page stays open, and with it the process. */
function getSharedContext(browser: Browser, base: string): Promise<BrowserContext> {
  const known = sharedContexts.get(base) ?? createSharedContext(browser, base)
  sharedContexts.set(base, known)
  return known
}

async function createSharedContext(browser: Browser, base: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' })
  await (await context.newPage()).goto(`${base}/favicon.svg`)
  return context
}

/** When the server at `base` goes. */
export async function closeSharedContext(base: string): Promise<void> {
  await (await sharedContexts.get(base))?.close()
  sharedContexts.delete(base)
}

/** The screen of a page; wide and light by default. */
export interface Screen {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
}

/** Sign-in without an issuer, and readiness while a check is late on a busy machine: the page asks again. */
const isExpected = (status: number, pathname: string): boolean =>
  pathname === '/api/auth/oidc' || (status === 503 && pathname === '/api/health/ready')

/**
 * With PROBITY_TEST_SLOW=1: as on a busy machine far from its server. Tests that depend on the order in which answers and
 * drawings happen fail then, and not once in fifty runs.
 */
async function slowDown(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const unlimited = { downloadThroughput: -1, uploadThroughput: -1 }
  await devtools.send('Network.emulateNetworkConditions', { offline: false, latency: 150, ...unlimited })
}

export async function openPage(
  browser: Browser,
  base: string,
  place: string,
  { viewport, colorScheme, token }: Screen & { readonly token?: string } = {},
) {
  const context = await getSharedContext(browser, base)
  const page = await context.newPage()
  if (viewport) await page.setViewportSize(viewport)
  if (colorScheme) await page.emulateMedia({ colorScheme })
  const seen: PageProblems = { outside: trackOutsideRequests(page, base), errors: [], failed: [] }
  // A colour scheme that another page chose is not this one's.
  await page.addInitScript(`try { localStorage.clear() } catch {}`)
  await page.addInitScript(STOP_ANIMATIONS)
  if (token !== undefined) await page.addInitScript(signInOnce(token))
  page.on('console', (message) => {
    // The browser itself writes a line for every refused request; those are counted below.
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) seen.errors.push(message.text())
  })
  page.on('pageerror', (error) => seen.errors.push(String(error)))
  page.on('response', (answer) => {
    const { pathname } = new URL(answer.url())
    if (answer.status() >= 400 && !isExpected(answer.status(), pathname))
      seen.failed.push(`${answer.status()} ${pathname}`)
  })
  page.setDefaultTimeout(90_000)
  if (process.env['PROBITY_TEST_SLOW'] === '1') await slowDown(page)
  await page.goto(`${base}${place}`)
  return { page, context, seen, close: () => page.close() }
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token or API key').fill(token)
  await page.getByRole('button', { name: /^(Sign in|Use token)$/ }).click()
}

/** The page has its heading and nothing on it is still loading, however many parts of it were. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  const main = page.getByRole('main')
  await main.getByRole('heading', { level: 1 }).waitFor()
  await main.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
}

/** By how much the page is wider than the screen. Asked until it is 0: a page follows a new width when it is drawn the next time. */
export const getOverflow = (page: Page) => page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

/** With PROBITY_TEST_SCREENSHOTS=1 only: painting and encoding all pages takes longer than testing them. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (process.env['PROBITY_TEST_SCREENSHOTS'] !== '1') return
  fs.mkdirSync(screenshotDir, { recursive: true })
  await page.screenshot({ path: path.join(screenshotDir, `${name}.png`) })
}

/** Wide and light, then narrow and dark: the page fits either. */
export async function expectFitsScreens(page: Page, name: string): Promise<void> {
  for (const [viewport, colorScheme] of [
    [DESKTOP, 'light'],
    [PHONE, 'dark'],
  ] as const) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
    await expect.poll(() => getOverflow(page), { message: name }).toBe(0)
    await takeScreenshot(page, `${name}-${viewport.width}`)
  }
}
