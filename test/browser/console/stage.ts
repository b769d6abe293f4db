/**
 * What the tests of the console share: one server, one browser and the people of one tenant, started once for all of them.
 * What it exports is there once `beforeAll` has run.
 */
import { execFileSync } from 'node:child_process'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import type { Role } from '../../../src/kernel/auth/roles.ts'
import { defineJob } from '../../../src/kernel/job/kind.ts'
import { closed } from '../../../src/kernel/schema.ts'
import { browserAvailable, launch } from '../../support/browser.ts'
import { projectRoot } from '../../support/database.ts'
import { type World, world } from '../../support/world.ts'
import { type Seen, visitAs } from '../visitor.ts'

const availability = await browserAvailable()
if (!availability.ok) console.warn(`The tests of the console in a browser are skipped: ${availability.reason}`)
export const inBrowser = test.skipIf(!availability.ok)

export interface Person {
  readonly user_id: string
  readonly token: string
}

/** Work that goes on one step at a time, when a test allows it. */
let permits = 0
export const allow = (steps: number): void => {
  permits = steps
}
const slowWork = defineJob({
  kind: 'slow-work',
  summary: 'Three steps.',
  payload: closed({}),
  resumes: 'restart',
  run: async ({ step, signal }) => {
    for (let done = 0; done < 3; ) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (signal.aborted) return null
      if (permits === 0) continue
      permits--
      done++
      await step(async () => ({ progress: { done, total: 3, unit: 'parts' } }))
    }
    return { parts: 3 }
  },
})

export let w: World
export let browser: Browser
export let base: string
export let tenant_id: string
export let tara: Person
export let till: Person
export let vera: Person
export let udo: Person
let runner: ReturnType<World['runtime']['createRunner']>
let sealer: ReturnType<World['runtime']['createSealer']>

/** Sealing the audit record, which a test may have to hold. */
export const sealing = {
  start: () => {
    sealer = w.runtime.createSealer()
    sealer.start()
  },
  stop: () => sealer.stop(),
}

/** A user of the tenant, and a token that speaks for them. */
export async function person(name: string, roles: readonly Role[], by?: Person): Promise<Person> {
  const admin = by?.token ?? (await w.token({ tenant_id, roles: ['tenant_admin'] }))
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
  const { json } = await w.call('POST /users', { token: admin, body: { name, email, roles } })
  const principal = `user:${json.user_id}` as const
  return { user_id: json.user_id, token: await w.token({ tenant_id, roles, principal, name }) }
}

beforeAll(async () => {
  if (!availability.ok) return
  execFileSync(process.execPath, ['scripts/build.mjs', 'console'], { cwd: projectRoot, stdio: 'pipe' })
  w = await world({ jobs: [slowWork] })
  base = await w.listen()
  runner = w.runtime.createRunner(1, { poll_ms: 50 })
  runner.start()
  sealing.start()
  tenant_id = await w.makeTenant({ four_eyes: true })
  tara = await person('Tara Admin', ['tenant_admin'])
  till = await person('Till Admin', ['tenant_admin'], tara)
  vera = await person('Vera Viewer', ['viewer'], tara)
  udo = await person('Udo Auditor', ['auditor'], tara)
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await runner?.stop(1000)
  await sealer?.stop()
  await w?.close()
})

export const at = (who: Person, place: string, options: BrowserContextOptions = {}) =>
  visitAs(browser, base, who.token, place, options)
export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
export const areas = (page: Page) => page.getByRole('navigation', { name: 'Areas' })
export const clean = { outside: [], errors: [], failed: [] }
/** Whoever made the first users exists in a token only: the audit record asks for their name in vain. */
export const withoutFounder = (seen: Seen): Seen => ({
  ...seen,
  failed: seen.failed.filter((answer) => !answer.startsWith('404 /api/users/')),
})
