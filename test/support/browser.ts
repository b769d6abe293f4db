/** The browser of a test run: the npm-shipped Chromium, or the one that `CHROME_PATH` names, started once per worker process. */
import { type Browser, chromium, type Page } from 'playwright-core'
import { ensureChromium } from './browser-unpack.ts'
import { countResource } from './resource-counts.ts'

/** Containers and root have no sandbox to offer. Names outside this machine do not resolve: no page may load anything from there. */
const ARGUMENTS = [
  '--no-sandbox',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  // Pages of one context share a process: starting one costs more than loading a page.
  '--renderer-process-limit=1',
]

let shared: Promise<Browser> | undefined

/** Shared by the test files of a worker, each with contexts of its own. Playwright ends it with the process. */
export function getBrowser(): Promise<Browser> {
  shared ??= launchBrowser()
  return shared
}

async function launchBrowser(): Promise<Browser> {
  const named = process.env['CHROME_PATH']
  const { executablePath, env } = named ? { executablePath: named, env: {} } : await ensureChromium()
  countResource('browser')
  return chromium.launch({ executablePath, args: ARGUMENTS, env: { ...definedOnly(process.env), ...env } })
}

export type BrowserAvailability = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/** Whether a browser starts here at all; tests that need it are skipped with the reason. */
export function checkBrowser(): Promise<BrowserAvailability> {
  return getBrowser().then(
    () => ({ ok: true }),
    (error: Error) => ({ ok: false, reason: error.message.split('\n')[0] ?? 'unknown' }),
  )
}

/** The requests of a page to any other origin than `base`, as they are made. Interception would disable the HTTP cache. */
export function trackOutsideRequests(page: Page, base: string): string[] {
  const outside: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (new URL(url).origin !== new URL(base).origin && !/^(data|blob):/.test(url)) outside.push(url)
  })
  return outside
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
