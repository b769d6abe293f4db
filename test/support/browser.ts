/** Starts a real browser for tests: the npm-shipped Chromium, or the one that `CHROME_PATH` names. */
import { type Browser, chromium } from 'playwright-core'
import { ensureChromium } from './browser-unpack.ts'

export async function launchBrowser(): Promise<Browser> {
  const named = process.env['CHROME_PATH']
  const { executablePath, env } = named ? { executablePath: named, env: {} } : await ensureChromium()
  // Containers and root have no sandbox to offer. Nothing else is relaxed: the browser's own rules are under test too.
  return chromium.launch({ executablePath, args: ['--no-sandbox'], env: { ...definedOnly(process.env), ...env } })
}

export type BrowserAvailability = { readonly ok: true } | { readonly ok: false; readonly reason: string }

let browserCheck: Promise<BrowserAvailability> | undefined

/** Whether a browser starts here at all, found out by starting one; tests that need it are skipped with the reason. */
export function checkBrowser(): Promise<BrowserAvailability> {
  browserCheck ??= launchBrowser().then(
    async (browser) => {
      await browser.close()
      return { ok: true }
    },
    (error: Error) => ({ ok: false, reason: error.message.split('\n')[0] ?? 'unknown' }),
  )
  return browserCheck
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
