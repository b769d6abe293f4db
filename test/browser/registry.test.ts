/** The registry in a real browser: reading a difference, importing with a reject, putting in force, resolving, rolling back. */
import { execFileSync } from 'node:child_process'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../src/kernel/auth/roles.ts'
import { browserAvailable, launch } from '../support/browser.ts'
import { projectRoot } from '../support/database.ts'
import { type World, world } from '../support/world.ts'
import { phone, shot, visitAs, wide } from './visitor.ts'

const availability = await browserAvailable()
if (!availability.ok) console.warn(`The tests of the registry in a browser are skipped: ${availability.reason}`)
const inBrowser = test.skipIf(!availability.ok)

let w: World
let runner: ReturnType<World['runtime']['createRunner']>
let browser: Browser
let base: string
let tenant_id: string
let petra: string
let clara: string
let vera: string

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

const at = (token: string, place: string, options: BrowserContextOptions = {}) =>
  visitAs(browser, base, token, place, options)
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
const clean = { outside: [], errors: [], failed: [] }

const rated = (country: string, score: number) => ({ country, score, source: 'Bank', edition: '2026' })
const lines = (...entries: readonly object[]) => ({
  name: 'ratings.ndjson',
  mimeType: 'application/x-ndjson',
  buffer: Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')),
})

const choose = (page: Page, file: ReturnType<typeof lines>) => page.getByLabel('File to import').setInputFiles(file)

/** As if it were dragged from the desktop. */
async function drop(page: Page, { name, buffer }: ReturnType<typeof lines>): Promise<void> {
  const text = JSON.stringify(buffer.toString())
  const dataTransfer = await page.evaluateHandle(
    `(() => { const all = new DataTransfer(); all.items.add(new File([${text}], '${name}')); return all })()`,
  )
  await page.getByLabel('Drop a file here').dispatchEvent('drop', { dataTransfer })
}

async function preview(page: Page): Promise<void> {
  await page.getByText('ratings.ndjson is here').waitFor()
  await page.getByRole('button', { name: 'Preview', exact: true }).click()
  await page.getByText(/rows? read:/).waitFor()
}

describe('a shared list', () => {
  inBrowser('is found, opened and compared, and what changed is read field by field', async () => {
    const { page, seen, close } = await at(vera, '/datasets')
    await heading(page, 'Datasets').waitFor()
    expect(await page.getByRole('button', { name: 'Register a list' }).count()).toBe(0)
    await page.getByLabel('Find a list').fill('sanctions')
    await page.getByRole('link', { name: 'Demonstration sanctions list' }).click()
    await heading(page, 'Demonstration sanctions list').waitFor()
    await page.getByText('The operator put it in force for everybody').waitFor()
    const newest = page.getByRole('list', { name: 'Versions, newest first' }).getByLabel('Version 3')
    await newest.getByText('+ 12 added').waitFor()
    await newest.getByText('in force', { exact: true }).waitFor()
    await shot(page, 'registry-dataset')

    await newest.getByRole('link', { name: /What changed/ }).click()
    await heading(page, 'What changed').waitFor()
    await page.getByRole('article', { name: 'added: demo|DEMO-0003' }).getByText('Additia Newlisted').first().waitFor()
    const tile = page.getByRole('button', { name: '15 changed: show only these' })
    await tile.click()
    await expect.poll(() => page.getByRole('article').count()).toBe(15)
    expect(await tile.getAttribute('aria-pressed')).toBe('true')
    const changed = page.getByRole('article', { name: 'changed: demo|DEMO-0004' })
    const address = changed.getByRole('row', { name: /^Addresses/ })
    expect(await address.getByRole('insertion').innerText()).toContain('Nowhere Road')
    await shot(page, 'registry-difference')

    await page.getByLabel('Jump to a key').fill('demo-0168')
    await page.keyboard.press('Enter')
    const focused = page.locator('article:focus')
    await expect.poll(() => focused.getAttribute('aria-label')).toBe('changed: demo|DEMO-0168')
    await page.getByRole('button', { name: 'Swap direction' }).click()
    await expect.poll(() => page.url()).toContain('from=3&to=2')
    await page.getByRole('button', { name: '5 added: show only these' }).waitFor()
    expect(seen).toEqual(clean)
    await close()
  })

  inBrowser('proves that a key is absent, and is resolved as it was', async () => {
    const { page, seen, close } = await at(vera, '/datasets/demo-sanctions?tab=proof')
    await page.getByLabel('Key', { exact: true }).fill('demo|DEMO-0002')
    await page.getByRole('button', { name: 'Prove' }).click()
    await page.getByText('demo|DEMO-0002 is not in version 3').waitFor()
    await page.goto(`${base}/resolver?list=demo-sanctions&key=demo%7CDEMO-0002&valid_at=2025-04-01T12:00`)
    await page.getByRole('link', { name: 'version 1 (2025-03)' }).waitFor()
    await page
      .getByRole('region', { name: 'What it says of demo|DEMO-0002' })
      .getByText('Removia Delistova')
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Ask with a receipt' }).click()
    await page.getByText('Manifest hash').waitFor()
    await shot(page, 'registry-resolver')
    expect(seen).toEqual(clean)
    await close()
  })
})

describe('a list of the tenant', () => {
  inBrowser(
    'is registered, filled from files, put in force, resolved and rolled back',
    async () => {
      const maker = await at(petra, '/datasets')
      await maker.page.getByRole('button', { name: 'Register a list' }).click()
      const dialog = maker.page.getByRole('dialog', { name: 'Register a list' })
      await dialog.getByLabel('Title').fill('Own ratings')
      await dialog.getByLabel('Key').fill('own-ratings')
      await dialog.getByRole('combobox', { name: 'Type' }).fill('country-score')
      await maker.page.getByRole('option', { name: /\(country-score\)/ }).click()
      await dialog.getByRole('button', { name: 'Register the list' }).click()
      await heading(maker.page, 'Own ratings').waitFor()

      await maker.page.getByRole('link', { name: 'Import a version' }).click()
      await choose(maker.page, lines(rated('DE', 90), { ...rated('FR', 80), score: 'eighty' }))
      await preview(maker.page)
      await maker.page.getByText('1 good, 1 rejected').waitFor()
      await maker.page.getByRole('table', { name: 'Rejected rows' }).getByText('row 2').waitFor()
      await shot(maker.page, 'registry-preview')
      await maker.page.getByRole('button', { name: 'Start the import' }).click()
      await maker.page.getByText('No version was made').waitFor()
      await maker.page.getByRole('table', { name: 'Rejected rows' }).getByText('/score').waitFor()
      await shot(maker.page, 'registry-rejects')

      await maker.page.getByRole('link', { name: 'Import a corrected file' }).click()
      await drop(maker.page, lines(rated('DE', 90), rated('FR', 80)))
      await maker.page.getByRole('button', { name: 'Start the import' }).click()
      await maker.page.getByText('Version 1 is published').waitFor()
      expect(maker.seen).toEqual(clean)

      const data = [rated('DE', 95), rated('FR', 80), rated('NO', 99)]
      await w.call('POST /reference-data/datasets/own-ratings/versions', {
        token: petra,
        body: { data, label: '2026-q2' },
      })

      const checker = await at(clara, '/datasets/own-ratings')
      const { page } = checker
      const put = async (version: number, change: string) => {
        await page.getByRole('button', { name: `Put in force version ${version}` }).click()
        const asked = page.getByRole('dialog', { name: new RegExp(`Put in force: version ${version}`) })
        await asked.getByText(change).waitFor()
        await asked.getByLabel('Reason').fill('Approved by the committee')
        if (version === 2) await shot(page, 'registry-put-in-force')
        await asked.getByRole('button', { name: 'Put in force' }).click()
        await page.getByText(`Version ${version} is in force`).waitFor()
      }
      await put(1, 'Nothing is in force yet')
      await put(2, '1 changed')

      const resolves = async (version: number, score: string) => {
        await page.getByRole('link', { name: 'Resolve', exact: true }).click()
        await page.getByLabel('Key', { exact: true }).fill('DE')
        await page.getByRole('button', { name: 'Resolve' }).click()
        await page.getByRole('link', { name: new RegExp(`^version ${version}`) }).waitFor()
        await page.getByRole('region', { name: 'What it says of DE' }).getByText(score, { exact: true }).waitFor()
        await page.goBack()
        await page.goBack()
        await heading(page, 'Own ratings').waitFor()
      }
      await resolves(2, '95')
      await page.getByRole('button', { name: 'Roll back' }).click()
      const back = page.getByRole('dialog', { name: 'Roll back Own ratings' })
      await back.getByText('version 2 → version 1').waitFor()
      await back.getByText('1 removed').waitFor()
      await back.getByLabel('Reason').fill('The new scores were wrong')
      await shot(page, 'registry-roll-back')
      await back.getByRole('button', { name: 'Roll back' }).click()
      await page.getByText('Back to version 1').waitFor()
      await resolves(1, '90')
      await page.getByRole('tab', { name: 'Activations' }).click()
      await page.getByRole('table', { name: 'Activations, newest first' }).getByText('rollback version 1').waitFor()
      expect(checker.seen).toEqual(clean)
      await Promise.all([maker.close(), checker.close()])
    },
    120_000,
  )
})

describe('on any screen', () => {
  inBrowser('pages fit, wide and narrow, light and dark', async () => {
    const { page, seen, close } = await at(clara, '/datasets')
    const places = {
      entries: '/datasets/demo-sanctions?tab=entries',
      difference: '/datasets/demo-sanctions/diff?from=1&to=3',
      type: '/types/sanctioned-party',
    }
    for (const [name, place] of Object.entries(places)) {
      await page.goto(`${base}${place}`)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('main').getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
      for (const [viewport, colorScheme] of [
        [wide, 'light'],
        [phone, 'dark'],
      ] as const) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme })
        await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
        expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), place).toBe(0)
        await shot(page, `registry-page-${name}-${viewport.width}`)
      }
    }
    expect(seen).toEqual(clean)
    await close()
  })
})
