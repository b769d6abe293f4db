/**
 * What the tests of the registry's pages share: one server, one browser, the people of one tenant, and files to import. What it
 * exports is there once `beforeAll` has run.
 */
import { execFileSync } from 'node:child_process'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import type { Role } from '../../../src/kernel/auth/roles.ts'
import { browserAvailable, launch } from '../../support/browser.ts'
import { projectRoot } from '../../support/database.ts'
import { type World, world } from '../../support/world.ts'
import { visitAs } from '../visitor.ts'

const availability = await browserAvailable()
if (!availability.ok) console.warn(`The tests of the registry in a browser are skipped: ${availability.reason}`)
export const inBrowser = test.skipIf(!availability.ok)

export let w: World
export let base: string
export let petra: string
export let clara: string
export let vera: string
let browser: Browser
let runner: ReturnType<World['runtime']['createRunner']>
let tenant_id: string

async function person(name: string, role: Role): Promise<string> {
  const admin = await w.token({ tenant_id, roles: ['tenant_admin'] })
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
  const { json } = await w.call('POST /users', { token: admin, body: { name, email, roles: [role] } })
  return w.token({ tenant_id, roles: [role], principal: `user:${json.user_id}`, name })
}

beforeAll(async () => {
  if (!availability.ok) return
  execFileSync(process.execPath, ['scripts/build.mjs', 'console'], { cwd: projectRoot, stdio: 'pipe' })
  w = await world()
  base = await w.listen()
  runner = w.runtime.createRunner(1, { poll_ms: 50 })
  runner.start()
  tenant_id = await w.makeTenant()
  petra = await person('Petra Policy', 'policy_editor')
  clara = await person('Clara Compliance', 'compliance_officer')
  vera = await person('Vera Viewer', 'viewer')
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await runner?.stop(1000)
  await w?.close()
})

export const at = (token: string, place: string, options: BrowserContextOptions = {}) =>
  visitAs(browser, base, token, place, options)
export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
export const clean = { outside: [], errors: [], failed: [] }

export const rated = (country: string, score: number) => ({ country, score, source: 'Bank', edition: '2026' })
export const lines = (...entries: readonly object[]) => ({
  name: 'ratings.ndjson',
  mimeType: 'application/x-ndjson',
  buffer: Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')),
})

export const choose = (page: Page, file: ReturnType<typeof lines>) =>
  page.getByLabel('File to import').setInputFiles(file)

/** As if it were dragged from the desktop. */
export async function drop(page: Page, { name, buffer }: ReturnType<typeof lines>): Promise<void> {
  const text = JSON.stringify(buffer.toString())
  const dataTransfer = await page.evaluateHandle(
    `(() => { const all = new DataTransfer(); all.items.add(new File([${text}], '${name}')); return all })()`,
  )
  await page.getByLabel('Drop a file here').dispatchEvent('drop', { dataTransfer })
}

export async function preview(page: Page): Promise<void> {
  await page.getByText('ratings.ndjson is here').waitFor()
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await page.getByText(/rows? read:/).waitFor()
}
