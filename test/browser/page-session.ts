/** A fresh browser context that records external requests, console errors and failed responses. */
import fs from 'node:fs'
import path from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
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

export async function openPage(browser: Browser, base: string, place: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...options })
  const seen: PageProblems = { outside: [], errors: [], failed: [] }
  await context.route(
    (url) => url.origin !== new URL(base).origin && !/^(data|blob):/.test(url.href),
    (route) => {
      seen.outside.push(route.request().url())
      return route.abort()
    },
  )
  const page = await context.newPage()
  page.on('console', (message) => {
    // The browser itself writes a line for every refused request; those are counted below.
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) seen.errors.push(message.text())
  })
  page.on('pageerror', (error) => seen.errors.push(String(error)))
  page.on('response', (answer) => {
    const { pathname } = new URL(answer.url())
    if (answer.status() >= 400 && pathname !== '/api/auth/oidc') seen.failed.push(`${answer.status()} ${pathname}`)
  })
  page.setDefaultTimeout(90_000)
  await page.goto(`${base}${place}`)
  return { page, context, seen, close: () => context.close() }
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token or API key').fill(token)
  await page.getByRole('button', { name: /^(Sign in|Use token)$/ }).click()
}

/** Already signed in, as after a reload of the tab. */
export async function openPageAs(
  browser: Browser,
  base: string,
  token: string,
  place: string,
  options: BrowserContextOptions = {},
) {
  const visitor = await openPage(browser, base, '/favicon.svg', options)
  await visitor.page.evaluate(`sessionStorage.setItem('probity.token', ${JSON.stringify(token)})`)
  await visitor.page.goto(`${base}${place}`)
  return visitor
}

/** The page has its heading and nothing on it is still loading, however many parts of it were. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  const main = page.getByRole('main')
  await main.getByRole('heading', { level: 1 }).waitFor()
  await main.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
}

/** By how much the page is wider than the screen. Asked until it is 0: a page follows a new width when it is drawn the next time. */
export const getOverflow = (page: Page) => page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

export async function takeScreenshot(page: Page, name: string): Promise<void> {
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
