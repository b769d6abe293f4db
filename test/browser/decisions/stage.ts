/**
 * What the tests of decisions share: one server, one browser, the people of one tenant, and subjects that were decided about.
 * What it exports is there once `beforeAll` has run.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import type { Role } from '../../../src/kernel/auth/roles.ts'
import { browserAvailable, launch } from '../../support/browser.ts'
import { projectRoot } from '../../support/database.ts'
import { type World, world } from '../../support/world.ts'
import { visitAs } from '../visitor.ts'

const availability = await browserAvailable()
if (!availability.ok) console.warn(`The tests of decisions in a browser are skipped: ${availability.reason}`)
export const inBrowser = test.skipIf(!availability.ok)

export let w: World
export let base: string
export let anton: string
export let petra: string
export let clara: string
export let udo: string
/** Decided about twice, so that there is a history. */
export let ada: string
export let evaluation_id: string
let browser: Browser
let runner: ReturnType<World['runtime']['createRunner']>
let tenant_id: string

export const MATRIX = 'customer-risk-person'

/** The golden cases of the shared matrix are good inputs. */
const seed = JSON.parse(fs.readFileSync(path.join(projectRoot, `db/seed/matrices/${MATRIX}.json`), 'utf8')) as {
  cases: readonly { name: string; inputs: Record<string, unknown> }[]
}
export const calm = seed.cases[0]?.inputs as Record<string, unknown>

async function person(name: string, role: Role): Promise<string> {
  const admin = await w.token({ tenant_id, roles: ['tenant_admin'] })
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
  const { json } = await w.call('POST /users', { token: admin, body: { name, email, roles: [role] } })
  return w.token({ tenant_id, roles: [role], principal: `user:${json.user_id}`, name })
}

const names = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Edith Clarke', 'Konrad Zuse', 'Emmy Noether']

async function decideAbout(name: string, number: number): Promise<{ subject_id: string; evaluation_id: string }> {
  const attributes = { ...calm, residence_country: number % 2 === 0 ? 'DE' : 'CH' }
  const subject = { subject_type: 'person', name, external_id: `C-${number}`, segment: 'retail', attributes }
  const { subject_id } = (await w.call('POST /subjects', { token: anton, body: subject })).json
  const body = { matrix_key: MATRIX, subject_id }
  return { subject_id, evaluation_id: (await w.call('POST /evaluations', { token: anton, body })).json.evaluation_id }
}

beforeAll(async () => {
  if (!availability.ok) return
  execFileSync(process.execPath, ['scripts/build.mjs', 'console'], { cwd: projectRoot, stdio: 'pipe' })
  w = await world()
  base = await w.listen()
  runner = w.runtime.createRunner(1, { poll_ms: 50 })
  runner.start()
  tenant_id = await w.makeTenant()
  anton = await person('Anton Analyst', 'analyst')
  petra = await person('Petra Policy', 'policy_editor')
  clara = await person('Clara Compliance', 'compliance_officer')
  udo = await person('Udo Auditor', 'auditor')
  for (const [place, name] of names.entries()) {
    const made = await decideAbout(name, place + 1)
    if (place === 0) ada = made.subject_id
    evaluation_id = made.evaluation_id
  }
  const inputs = { source_of_funds: 'virtual-assets', years_known: 0, annual_turnover: '1500000.00' }
  await w.call('POST /evaluations', { token: anton, body: { matrix_key: MATRIX, subject_id: ada, inputs } })
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
